#include "source/energy/gauges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/cpu_set.hpp"
#include "base/file.hpp"
#include "event/resolver.hpp"
#include "source/energy/nvml.hpp"
#include "source/msr/rapl.hpp"
#include "source/perf_events/group.hpp"

namespace loft::source::energy {
namespace {

template <class T>
std::optional<T> value_of(Result<T> result) {
  return result ? std::optional<T>(*std::move(result)) : std::nullopt;
}

// An event of the power PMU, on one CPU of each package.
class PackageEvent {
 public:
  static std::shared_ptr<PackageEvent> open(const event::Event& event) {
    auto opened = std::make_shared<PackageEvent>();
    opened->scale_ = event.scale;
    for (const int cpu : event.cpus)
      if (!opened->cpus_.emplace_back().add(event, {-1, cpu}, {.disabled = false})) return nullptr;
    return opened->cpus_.empty() ? nullptr : opened;
  }

  [[nodiscard]] std::optional<double> joules() const {
    double sum = 0;
    for (const perf_events::Group& group : cpus_) {
      const auto reading = group.read();
      if (!reading) return std::nullopt;
      sum += static_cast<double>(reading->front().value) * scale_;
    }
    return sum;
  }

 private:
  std::vector<perf_events::Group> cpus_;
  double scale_ = 1;
};

// No domain of a machine takes more. A meter that would have, had it gone around, began anew: some
// do when the machine was asleep.
constexpr double kMostWatts = 10'000;

bool went_around(double joules, double seconds) {
  return joules <= kMostWatts * std::max(seconds, 1.0);
}

// What a reading costs, at most one part in so many of the time.
constexpr int kPauses = 500;
constexpr Nanoseconds kSlow = std::chrono::microseconds(100);
constexpr Nanoseconds kLongestPause = std::chrono::seconds(10);

// By CPU time: a machine that is busy makes no gauge slow.
std::optional<double> read_timed(Gauge& gauge) {
  const Nanoseconds before = now(CLOCK_THREAD_CPUTIME_ID);
  const auto value = gauge.read();
  const Nanoseconds cost = now(CLOCK_THREAD_CPUTIME_ID) - before;
  gauge.pause = cost < kSlow ? Nanoseconds(0) : std::min(cost * kPauses, kLongestPause);
  return value;
}

// The joules since it was last read.
std::optional<double> step(Gauge& gauge, Nanoseconds at) {
  const auto value = read_timed(gauge);
  if (!value) return std::nullopt;
  const double seconds = to_seconds(at - gauge.last_time);
  double joules = gauge.is_power ? (gauge.last + *value) / 2 * seconds : *value - gauge.last;
  if (joules < 0 && gauge.range > 0 && went_around(joules + gauge.range, seconds))
    joules += gauge.range;
  gauge.last = *value;
  gauge.last_time = at;
  return joules >= 0 ? std::optional(joules) : std::nullopt;
}

// One CPU of each package.
std::map<std::string, int> first_cpus() {
  std::map<std::string, int> first;
  const auto online = online_cpus();
  if (!online) return first;
  for (const int cpu : *online)
    if (const auto package = read_line(
            fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu)))
      first.emplace(*package, cpu);
  return first;
}

}  // namespace

Gauges Gauges::open(const SystemRoot& root) {
  Gauges gauges;
  const bool has_powercap = gauges.add_files(root);
  if (!root.is_live()) return gauges;
  if (!has_powercap && !gauges.add_power_pmu()) gauges.add_registers();
  gauges.add_gpus();
  return gauges;
}

bool Gauges::add(Gauge gauge) {
  const auto first = gauge.read();  // without a pause: whoever opened it wants to know soon
  if (!first) return false;
  gauge.last = *first;
  gauge.last_time = now();
  gauges_.push_back(std::move(gauge));
  return true;
}

bool Gauges::add_files(const SystemRoot& root) {
  bool has_powercap = false;
  for (const Meter& meter : meters(root)) {
    const bool added = add({.name = meter.name,
                            .read = [meter] { return value_of(energy::read(meter)); },
                            .is_power = meter.quantity == Meter::Quantity::power,
                            .range = meter.range});
    has_powercap |= added && meter.origin == "powercap";
  }
  return has_powercap;
}

bool Gauges::add_power_pmu() {
  const auto names = list_directory("/sys/bus/event_source/devices/power/events");
  if (!names) return false;
  bool has_some = false;
  event::Resolver resolver;
  for (const std::string& name : *names) {
    if (!name.starts_with("energy-") || name.find('.') != std::string::npos) continue;
    const auto event = resolver.resolve("power/" + name + "/");
    if (!event) continue;
    if (const auto opened = PackageEvent::open(*event))
      has_some |= add({.name = event->name, .read = [opened] { return opened->joules(); }});
  }
  return has_some;
}

void Gauges::add_registers() {
  using msr::MsrFile;
  const auto cpuinfo = read_file("/proc/cpuinfo");
  const auto vendor = cpuinfo ? msr::vendor_in(*cpuinfo) : std::nullopt;
  if (!vendor) return;
  for (const auto& [package, cpu] : first_cpus()) {
    auto opened = MsrFile::open(cpu, MsrFile::Access::read);
    if (!opened) continue;
    const std::shared_ptr<msr::Registers> registers = *std::move(opened);
    const auto unit = msr::joules_per_count(*registers, *vendor);
    if (!unit) continue;
    for (const msr::EnergyRegister& domain : msr::energy_registers(*vendor))
      add({.name = fmt::format("{}-{} (msr)", domain.name, package),
           .read = [registers, domain, unit = *unit]() -> std::optional<double> {
             const auto count = msr::energy_count(*registers, domain);
             return count ? std::optional(*count * unit) : std::nullopt;
           },
           .range = msr::kEnergyCounts * *unit});
  }
}

void Gauges::add_gpus() {
  const auto nvml = Nvml::load();
  if (!nvml) return;
  for (unsigned device = 0; device < nvml->devices(); ++device)
    add({.name = nvml->name(device).value_or("GPU " + std::to_string(device)),
         .read = [nvml = *nvml, device] { return value_of(nvml.energy(device)); },
         .is_gpu = true});
}

std::vector<std::optional<double>> Gauges::advance(Nanoseconds at) {
  std::vector<std::optional<double>> used;
  for (Gauge& gauge : gauges_) used.push_back(step(gauge, at));
  return used;
}

std::vector<Gauges::Step> Gauges::advance_sparingly(Nanoseconds at) {
  std::vector<Step> steps;
  for (Gauge& gauge : gauges_) {
    Step& taken = steps.emplace_back();
    if (at - gauge.last_time < gauge.pause) continue;
    taken.is_read = true;
    taken.seconds = to_seconds(at - gauge.last_time);
    taken.joules = step(gauge, at);
  }
  return steps;
}

}  // namespace loft::source::energy
