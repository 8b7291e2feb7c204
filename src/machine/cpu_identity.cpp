#include "machine/cpu_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace loft::machine {
namespace {

// The value of the first "key : value" line of /proc/cpuinfo.
std::string field(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key)
      return std::string(trim(line.substr(colon + 1)));
  }
  return {};
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

#if defined(__x86_64__)

struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Leaf cpuid(unsigned leaf, unsigned subleaf = 0) {
  Leaf out;
  __get_cpuid_count(leaf, subleaf, &out.a, &out.b, &out.c, &out.d);
  return out;
}

std::string hypervisor_name() {
  constexpr unsigned kPresent = 1u << 31;
  if ((cpuid(1).c & kPresent) == 0) return {};
  Leaf leaf;
  __cpuid(0x40000000, leaf.a, leaf.b, leaf.c, leaf.d);
  std::array<char, 13> name{};
  std::memcpy(name.data(), &leaf.b, 4);
  std::memcpy(name.data() + 4, &leaf.c, 4);
  std::memcpy(name.data() + 8, &leaf.d, 4);
  const std::string text(trim(name.data()));
  if (text.starts_with("KVM")) return "KVM";
  if (text == "Microsoft Hv") return "Hyper-V";
  if (text.starts_with("VMware")) return "VMware";
  if (text.starts_with("Xen")) return "Xen";
  return text.empty() ? "unknown hypervisor" : printable(text);
}

// Leaf 4 on Intel, 0x8000001D on AMD: the same layout. The deepest level that is described.
void read_cache_claims(CpuIdentity& identity, bool amd) {
  int deepest = 0;
  for (unsigned index = 0; index < 8; ++index) {
    const Leaf leaf = cpuid(amd ? 0x8000001D : 4, index);
    if ((leaf.a & 31) == 0) break;
    const int level = static_cast<int>(leaf.a >> 5 & 7);
    if (level < deepest) continue;
    deepest = level;
    const std::uint64_t ways = (leaf.b >> 22) + 1;
    const std::uint64_t partitions = (leaf.b >> 12 & 1023) + 1;
    const std::uint64_t line = (leaf.b & 4095) + 1;
    identity.last_level_bytes = ways * partitions * line * (std::uint64_t{leaf.c} + 1);
    identity.last_level_sharers = static_cast<int>(leaf.a >> 14 & 4095) + 1;
  }
}

void read_cpuid(CpuIdentity& identity) {
  identity.hypervisor = hypervisor_name();
  read_cache_claims(identity, identity.signature.starts_with("AuthenticAMD"));
  // Leaf 0x16 has the base clock in MHz; virtual machines often leave it 0.
  if (cpuid(0).a >= 0x16) identity.nominal_hz = (cpuid(0x16).a & 0xFFFF) * 1e6;
}

#endif

double nominal_of_system(const SystemRoot& root, std::string_view name) {
  const std::string folder = root.at("/sys/devices/system/cpu/cpu0/cpufreq");
  for (const char* file : {"/base_frequency", "/cpuinfo_max_freq"})
    if (const auto line = read_line(folder + file))
      if (const auto kilohertz = parse_u64(trim(*line)))
        return static_cast<double>(*kilohertz) * 1e3;
  // "... CPU @ 2.60GHz"
  const auto at = name.find("@ ");
  if (at == std::string_view::npos) return 0;
  std::string_view clock = name.substr(at + 2);
  const auto unit = clock.find("GHz");
  if (unit == std::string_view::npos) return 0;
  return parse_double(trim(clock.substr(0, unit))).value_or(0) * 1e9;
}

}  // namespace

CpuIdentity read_cpu_identity(const SystemRoot& root) {
  CpuIdentity identity;
  const std::string info = read_file(root.at("/proc/cpuinfo")).value_or(std::string());
  const bool x86 = !field(info, "vendor_id").empty();
  if (x86) {
    identity.name = field(info, "model name");
    identity.signature =
        fmt::format("{} {} {} {}", field(info, "vendor_id"), field(info, "cpu family"),
                    field(info, "model"), field(info, "stepping"));
  } else {
    identity.signature =
        fmt::format("arm64 {} {} {} {}", field(info, "CPU implementer"), field(info, "CPU part"),
                    field(info, "CPU variant"), field(info, "CPU revision"));
    identity.name = field(info, "model name");
    if (identity.name.empty())
      identity.name = fmt::format("arm64 CPU, implementer {}, part {}",
                                  field(info, "CPU implementer"), field(info, "CPU part"));
  }
  identity.name = printable(identity.name);
  identity.signature = printable(identity.signature);
#if defined(__x86_64__)
  if (root.is_live()) read_cpuid(identity);
#endif
  if (identity.nominal_hz == 0) identity.nominal_hz = nominal_of_system(root, identity.name);
  return identity;
}

model::System read_system(const CpuIdentity& identity, const model::Topology& topology,
                          const SystemRoot& root) {
  const std::string info = read_file(root.at("/proc/cpuinfo")).value_or(std::string());
  const std::string kernel =
      read_line(root.at("/proc/sys/kernel/osrelease")).value_or(std::string());
  return {identity.name, printable(field(info, "microcode")), printable(trim(kernel)),
          static_cast<int>(topology.cpus.size())};
}

std::vector<std::string> contradictions(const CpuIdentity& identity,
                                        const model::Topology& topology) {
  std::vector<std::string> found;
  if (!identity.hypervisor.empty())
    found.push_back("this is a virtual machine (" + identity.hypervisor +
                    "): what it says of cores, caches and clocks need not be so");
  const auto last = std::max_element(
      topology.caches.begin(), topology.caches.end(),
      [](const model::Cache& a, const model::Cache& b) { return a.level < b.level; });
  if (last == topology.caches.end()) {
    found.emplace_back("the system describes no caches; the sweep alone says where they end");
    return found;
  }
  if (identity.last_level_bytes != 0 && identity.last_level_bytes != last->bytes)
    found.push_back(fmt::format("CPUID claims {} of L{}, the kernel says {}",
                                with_binary_prefix(identity.last_level_bytes), last->level,
                                with_binary_prefix(last->bytes)));
  if (identity.last_level_sharers >
      static_cast<int>(topology.cpus.size() + topology.offline.size()))
    found.push_back(
        fmt::format("CPUID says {} CPUs share L{}, this machine has {}: others may use it too",
                    identity.last_level_sharers, last->level, topology.cpus.size()));
  return found;
}

std::string identity_key(const CpuIdentity& identity, const model::Topology& topology,
                         const SystemRoot& root) {
  std::string all = identity.signature + "|" + identity.name + "|" + identity.hypervisor;
  all += fmt::format("|{} {} {} {}", topology.cpus.size() + topology.offline.size(),
                     topology.packages, topology.nodes, topology.threads_per_core);
  for (const model::Cache& cache : topology.caches)
    all += fmt::format("|{} {} {}", cache.level, cache.type, cache.bytes);
  all += "|" + read_line(root.at("/etc/machine-id")).value_or(std::string());
  return fmt::format("{:016x}", fnv1a(all));
}

}  // namespace loft::machine
