#include "machine/topology.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::machine {
namespace {

constexpr int kMostCacheIndexes = 16;

// -1 when the file is missing or not a number.
int number_in(const std::string& path) {
  const auto line = read_line(path);
  if (!line) return -1;
  const auto value = parse_u64(trim(*line));
  return value && *value <= 0x7FFFFFFF ? static_cast<int>(*value) : -1;
}

std::string word_in(const std::string& path) {
  const auto line = read_line(path);
  return line ? std::string(trim(*line)) : std::string();
}

CpuList cpus_in(const std::string& path) {
  const auto line = read_line(path);
  if (!line) return {};
  return parse_cpu_list(trim(*line)).value_or(CpuList{});
}

// "32K", "1024K", "32M".
std::uint64_t size_in(const std::string& path) {
  std::string text = word_in(path);
  int shift = 0;
  if (text.ends_with('K')) shift = 10;
  if (text.ends_with('M')) shift = 20;
  if (text.ends_with('G')) shift = 30;
  if (shift != 0) text.pop_back();
  const auto value = parse_u64(text);
  return value && *value < (1ULL << 40) ? *value << shift : 0;
}

std::string cpu_folder(const SystemRoot& root, int cpu) {
  return root.at("/sys/devices/system/cpu/cpu" + std::to_string(cpu));
}

// The node of each CPU; all 0 on a machine without NUMA folders.
std::map<int, int> nodes_of(const SystemRoot& root) {
  std::map<int, int> nodes;
  const std::string folder = root.at("/sys/devices/system/node");
  for (const std::string& name : list_directory(folder).value_or(std::vector<std::string>{})) {
    if (!name.starts_with("node")) continue;
    const auto number = parse_u64(std::string_view(name).substr(4));
    if (!number) continue;
    for (const int cpu : cpus_in(join_path(folder, name + "/cpulist")))
      nodes[cpu] = static_cast<int>(*number);
  }
  return nodes;
}

// Different kinds of cores: their own PMUs on x86, other capacities on arm64, other top clocks.
bool cores_differ(const SystemRoot& root, const std::vector<model::Cpu>& cpus) {
  if (file_exists(root.at("/sys/devices/cpu_atom")) &&
      file_exists(root.at("/sys/devices/cpu_core")))
    return true;
  std::set<int> capacities;
  for (const model::Cpu& cpu : cpus)
    if (cpu.capacity > 0) capacities.insert(cpu.capacity);
  return capacities.size() > 1;
}

int capacity_of(const std::string& folder) {
  const int said = number_in(folder + "/cpu_capacity");
  if (said > 0) return said;
  return std::max(0, number_in(folder + "/cpufreq/cpuinfo_max_freq"));
}

std::vector<model::Cache> caches_of(const SystemRoot& root, const CpuList& online) {
  // Instances are told apart by who shares them; one entry per level, type and size.
  std::map<std::tuple<int, std::string, std::uint64_t>, model::Cache> kinds;
  std::map<std::tuple<int, std::string, std::uint64_t>, std::set<CpuList>> instances;
  for (const int cpu : online) {
    for (int index = 0; index < kMostCacheIndexes; ++index) {
      const std::string folder = cpu_folder(root, cpu) + "/cache/index" + std::to_string(index);
      const int level = number_in(folder + "/level");
      if (level <= 0) break;
      const std::string type = word_in(folder + "/type");
      const std::uint64_t bytes = size_in(folder + "/size");
      const std::tuple key(level, type, bytes);
      model::Cache& cache = kinds[key];
      cache.level = level;
      cache.type = type;
      cache.bytes = bytes;
      cache.line =
          static_cast<std::uint64_t>(std::max(0, number_in(folder + "/coherency_line_size")));
      cache.ways = std::max(0, number_in(folder + "/ways_of_associativity"));
      instances[key].insert(cpus_in(folder + "/shared_cpu_list"));
    }
  }
  std::vector<model::Cache> caches;
  for (auto& [key, cache] : kinds) {
    cache.instances = static_cast<int>(instances[key].size());
    for (const CpuList& sharers : instances[key])
      cache.shared_by = std::max(cache.shared_by, static_cast<int>(sharers.size()));
    caches.push_back(cache);
  }
  return caches;
}

// CPUs that a group's files grant, 0 without a limit.
double quota_of_version_2(const std::string& folder) {
  const std::string text = word_in(join_path(folder, "cpu.max"));
  const auto fields = split(text, ' ');
  if (fields.size() != 2) return 0;
  const auto quota = parse_double(fields[0]);
  const auto period = parse_double(fields[1]);
  return quota && period && *quota > 0 && *period > 0 ? *quota / *period : 0;
}

double quota_of_version_1(const std::string& folder) {
  const int quota = number_in(join_path(folder, "cpu.cfs_quota_us"));
  const int period = number_in(join_path(folder, "cpu.cfs_period_us"));
  return quota > 0 && period > 0 ? static_cast<double>(quota) / period : 0;
}

}  // namespace

Result<model::Topology> read_topology(const SystemRoot& root) {
  LOFT_TRY(const auto online, online_cpus(root));
  model::Topology topology;
  topology.offline = cpus_in(root.at("/sys/devices/system/cpu/offline"));
  const auto nodes = nodes_of(root);
  std::map<CpuList, int> cores;
  std::set<int> packages;
  std::set<int> used_nodes;
  std::map<int, int> per_core;
  for (const int id : online) {
    const std::string folder = cpu_folder(root, id);
    CpuList siblings = cpus_in(folder + "/topology/core_cpus_list");
    if (siblings.empty()) siblings = cpus_in(folder + "/topology/thread_siblings_list");
    if (siblings.empty()) siblings = {id};
    model::Cpu cpu;
    cpu.id = id;
    cpu.core = cores.try_emplace(siblings, static_cast<int>(cores.size())).first->second;
    cpu.package = std::max(0, number_in(folder + "/topology/physical_package_id"));
    const auto node = nodes.find(id);
    cpu.node = node == nodes.end() ? 0 : node->second;
    cpu.capacity = capacity_of(folder);
    topology.threads_per_core = std::max(topology.threads_per_core, ++per_core[cpu.core]);
    packages.insert(cpu.package);
    used_nodes.insert(cpu.node);
    topology.cpus.push_back(cpu);
  }
  topology.cores = static_cast<int>(cores.size());
  topology.packages = static_cast<int>(packages.size());
  topology.nodes = static_cast<int>(used_nodes.size());
  topology.is_hybrid = cores_differ(root, topology.cpus);
  topology.caches = caches_of(root, online);
  return topology;
}

CpuList measuring_order(const model::Topology& topology, const CpuList& allowed) {
  std::vector<model::Cpu> candidates;
  for (const model::Cpu& cpu : topology.cpus)
    if (std::binary_search(allowed.begin(), allowed.end(), cpu.id)) candidates.push_back(cpu);
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.capacity, a.package, a.node, a.id == 0 ? 1 : 0, a.id) <
           std::tuple(-b.capacity, b.package, b.node, b.id == 0 ? 1 : 0, b.id);
  });
  CpuList first;
  CpuList siblings;
  std::set<int> cores;
  for (const model::Cpu& cpu : candidates)
    (cores.insert(cpu.core).second ? first : siblings).push_back(cpu.id);
  first.insert(first.end(), siblings.begin(), siblings.end());
  return first;
}

std::vector<Neighbour> neighbours_of(const model::Topology& topology, const CpuList& order) {
  const auto find = [&](int id) {
    const auto found = std::ranges::find(topology.cpus, id, &model::Cpu::id);
    return found == topology.cpus.end() ? model::Cpu{} : *found;
  };
  std::vector<Neighbour> neighbours;
  for (const int id : order) {
    const model::Cpu first = find(order.front());
    const model::Cpu other = find(id);
    const bool far = first.package != other.package || first.node != other.node;
    neighbours.push_back(far                        ? Neighbour::far
                         : first.core == other.core ? Neighbour::same_core
                                                    : Neighbour::near);
  }
  return neighbours;
}

// A group's own limit binds as well as those of the groups above it: the least of them counts.
double cgroup_cpu_limit(const SystemRoot& root) {
  const auto membership = read_file(root.at("/proc/self/cgroup"));
  if (!membership) return 0;
  double least = 0;
  for (const std::string_view line : split(*membership, '\n')) {
    // "0::/group" is version 2; "1:cpu,cpuacct:/group" a controller of version 1.
    const auto fields = split(line, ':');
    if (fields.size() != 3) continue;
    const auto controllers = split(fields[1], ',');
    const bool old = std::find(controllers.begin(), controllers.end(), "cpu") != controllers.end();
    if (!old && !fields[1].empty()) continue;
    const std::string top = old ? "/sys/fs/cgroup/" + std::string(fields[1]) : "/sys/fs/cgroup";
    for (std::string group(fields[2]);; group.resize(group.find_last_of('/'))) {
      const std::string folder = root.at(top + group);
      const double limit = old ? quota_of_version_1(folder) : quota_of_version_2(folder);
      if (limit > 0 && (least == 0 || limit < least)) least = limit;
      if (group.empty() || group.find('/') == std::string::npos) break;
    }
  }
  return least;
}

}  // namespace loft::machine
