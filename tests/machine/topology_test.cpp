// Machines that are not here, built as trees of small files.
#include "machine/topology.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/file.hpp"
#include "machine/buffer.hpp"
#include "machine/cpu_identity.hpp"
#include "machine/plan.hpp"

namespace loft::machine {
namespace {

class Topology : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/loft-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  void put(const std::string& path, const std::string& text) {
    ASSERT_TRUE(replace_file(path_ + path, text + "\n"));
  }
  void put_cpu(int id, const std::string& siblings, int package) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(id) + "/topology/";
    put(folder + "core_cpus_list", siblings);
    put(folder + "physical_package_id", std::to_string(package));
  }
  void put_cache(int cpu, int index, int level, const std::string& type, const std::string& size,
                 const std::string& shared) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                               "/cache/index" + std::to_string(index) + "/";
    put(folder + "level", std::to_string(level));
    put(folder + "type", type);
    put(folder + "size", size);
    put(folder + "coherency_line_size", "64");
    put(folder + "ways_of_associativity", "8");
    put(folder + "shared_cpu_list", shared);
  }
  // Two sockets with two cores of two threads each: 0-3 on the first, siblings 4 apart.
  void put_server() {
    put("/sys/devices/system/cpu/online", "0-7");
    put("/sys/devices/system/cpu/offline", "");
    for (int id = 0; id < 8; ++id) {
      const int core = id % 4;
      put_cpu(id, std::to_string(core) + "," + std::to_string(core + 4), core / 2);
      put_cache(id, 0, 1, "Data", "48K", std::to_string(core) + "," + std::to_string(core + 4));
      put_cache(id, 1, 3, "Unified", "30720K", core < 2 ? "0-1,4-5" : "2-3,6-7");
    }
    put("/sys/devices/system/node/node0/cpulist", "0-1,4-5");
    put("/sys/devices/system/node/node1/cpulist", "2-3,6-7");
  }
  [[nodiscard]] SystemRoot root() const { return SystemRoot(path_); }

  std::string path_;
};

TEST_F(Topology, KnowsSiblingsSocketsAndNodes) {
  put_server();
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->cpus.size(), 8u);
  EXPECT_EQ(topology->cores, 4);
  EXPECT_EQ(topology->packages, 2);
  EXPECT_EQ(topology->nodes, 2);
  EXPECT_EQ(topology->threads_per_core, 2);
  EXPECT_FALSE(topology->is_hybrid);
  ASSERT_EQ(topology->caches.size(), 2u);
  EXPECT_EQ(topology->caches[0].bytes, 48u << 10);
  EXPECT_EQ(topology->caches[0].instances, 4);
  EXPECT_EQ(topology->caches[1].bytes, 30u << 20);
  EXPECT_EQ(topology->caches[1].instances, 2);
  EXPECT_EQ(topology->caches[1].shared_by, 4);
}

TEST_F(Topology, MeasuresOnSeparateCoresFirst) {
  put_server();
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  const CpuList order = measuring_order(*topology, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(order, (CpuList{1, 4, 2, 3, 5, 0, 6, 7})) << "one socket after the other";
  EXPECT_EQ(measuring_order(*topology, {2, 6}), (CpuList{2, 6}));
}

TEST_F(Topology, KnowsWhatEachCpuIsToTheFirst) {
  put_server();
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  EXPECT_EQ(
      neighbours_of(*topology, {1, 0, 2, 5}),
      (std::vector{Neighbour::same_core, Neighbour::near, Neighbour::far, Neighbour::same_core}));
}

// The CPUs of the crews of a quick run that are measured to this extent.
std::vector<CpuList> quick_crews(const model::Topology& topology, Extent extent) {
  CpuList all;
  for (const model::Cpu& cpu : topology.cpus) all.push_back(cpu.id);
  std::vector<CpuList> found;
  for (const Crew& crew : crews_of(topology, measuring_order(topology, all), 1024))
    if (crew.is_quick && crew.extent == extent) found.push_back(crew.cpus);
  return found;
}

TEST_F(Topology, PlansOneThreadCoresAllAndTheSiblingsOfACore) {
  put_server();
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  EXPECT_EQ(quick_crews(*topology, Extent::whole),
            (std::vector<CpuList>{{1}, {1, 4, 2, 3}, {1, 4, 2, 3, 5, 0, 6, 7}, {1, 5}}))
      << "the last are both threads of one core";
  EXPECT_EQ(quick_crews(*topology, Extent::between), (std::vector<CpuList>{{1, 4}}))
      << "one socket";
  EXPECT_EQ(quick_crews(*topology, Extent::scattered), (std::vector<CpuList>{{1, 2}}))
      << "one thread on each";
  EXPECT_EQ(crews_of(*topology, measuring_order(*topology, {0, 1, 2, 3, 4, 5, 6, 7}), 8).size(),
            10u)
      << "each count up to all, the scattered ones and the siblings";
}

TEST_F(Topology, PlansDoublingsUpToAllCores) {
  put("/sys/devices/system/cpu/online", "0-15");
  for (int id = 0; id < 16; ++id) put_cpu(id, std::to_string(id), 0);
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  std::vector<std::size_t> between;
  for (const CpuList& cpus : quick_crews(*topology, Extent::between))
    between.push_back(cpus.size());
  EXPECT_EQ(between, (std::vector<std::size_t>{2, 4, 8}));
  std::vector<std::size_t> whole;
  for (const CpuList& cpus : quick_crews(*topology, Extent::whole)) whole.push_back(cpus.size());
  EXPECT_EQ(whole, (std::vector<std::size_t>{1, 16}));
  EXPECT_TRUE(quick_crews(*topology, Extent::scattered).empty()) << "there is one node";
}

TEST_F(Topology, SaysWhichCpusAreOffline) {
  put_server();
  put("/sys/devices/system/cpu/online", "0-2,4-6");
  put("/sys/devices/system/cpu/offline", "3,7");
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->offline, (CpuList{3, 7}));
  EXPECT_EQ(topology->cores, 3);
}

TEST_F(Topology, SeesCoresOfDifferentKindsAndPrefersTheFaster) {
  put("/sys/devices/system/cpu/online", "0-3");
  for (int id = 0; id < 4; ++id) {
    put_cpu(id, std::to_string(id), 0);
    put("/sys/devices/system/cpu/cpu" + std::to_string(id) + "/cpu_capacity",
        id < 2 ? "446" : "1024");
  }
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  EXPECT_TRUE(topology->is_hybrid);
  EXPECT_EQ(measuring_order(*topology, {0, 1, 2, 3}).front(), 2);
}

TEST_F(Topology, OfOneCpuWithoutAnyDetailStillStands) {
  put("/sys/devices/system/cpu/online", "0");
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->cores, 1);
  EXPECT_TRUE(topology->caches.empty());
  EXPECT_EQ(contradictions({}, *topology).size(), 1u) << "says that nothing is said of caches";
}

TEST_F(Topology, NonsenseInTheFilesIsNotBelieved) {
  put("/sys/devices/system/cpu/online", "0");
  put_cache(0, 0, 1, "Data", "lots", "0");
  put("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1");
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->caches[0].bytes, 0u);
  EXPECT_EQ(topology->packages, 1);
}

TEST_F(Topology, ReadsTheLeastLimitOfAllControlGroupsAbove) {
  EXPECT_EQ(cgroup_cpu_limit(root()), 0);
  put("/proc/self/cgroup", "0::/outer/inner");
  put("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  put("/sys/fs/cgroup/outer/cpu.max", "150000 100000");
  EXPECT_EQ(cgroup_cpu_limit(root()), 1.5);
  put("/sys/fs/cgroup/outer/inner/cpu.max", "50000 100000");
  EXPECT_EQ(cgroup_cpu_limit(root()), 0.5);
  put("/proc/self/cgroup", "3:memory:/a\n2:cpu,cpuacct:/a");
  EXPECT_EQ(cgroup_cpu_limit(root()), 0);
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1");
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cgroup_cpu_limit(root()), 0);
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "25000");
  EXPECT_EQ(cgroup_cpu_limit(root()), 0.25);
}

TEST_F(Topology, TakesNoMoreThanAQuarterOfFreeMemory) {
  put("/proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable:   400000 kB");
  EXPECT_EQ(memory_allowance(root()), 100000u << 10);
  put("/sys/fs/cgroup/memory.max", "67108864");
  EXPECT_EQ(memory_allowance(root()), 16u << 20);
}

TEST_F(Topology, NoticesClaimsThatContradictEachOther) {
  put_server();
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  CpuIdentity identity;
  EXPECT_TRUE(contradictions(identity, *topology).empty());
  identity.hypervisor = "KVM";
  identity.last_level_bytes = 256u << 20;
  identity.last_level_sharers = 16;
  const auto found = contradictions(identity, *topology);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NE(found[1].find("256 MiB"), std::string::npos) << found[1];
  EXPECT_NE(found[1].find("30 MiB"), std::string::npos) << found[1];
}

TEST_F(Topology, IdentityFollowsTheMachineAndHidesItsId) {
  put_server();
  put("/proc/cpuinfo",
      "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 1\nmodel name : Some CPU @ 2.50GHz");
  put("/etc/machine-id", "0123456789abcdef0123456789abcdef");
  const auto topology = read_topology(root());
  ASSERT_TRUE(topology);
  const CpuIdentity identity = read_cpu_identity(root());
  EXPECT_EQ(identity.name, "Some CPU @ 2.50GHz");
  EXPECT_EQ(identity.nominal_hz, 2.5e9);
  const std::string key = identity_key(identity, *topology, root());
  EXPECT_EQ(key.size(), 16u);
  EXPECT_EQ(key, identity_key(identity, *topology, root()));
  put("/etc/machine-id", "ffffffffffffffffffffffffffffffff");
  EXPECT_NE(key, identity_key(identity, *topology, root())) << "another installation";
}

}  // namespace
}  // namespace loft::machine
