// /sys trees of machines that are not here, built file by file in a temporary folder.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "event/resolver.hpp"

namespace loft::event {

// What a virtual PMU would offer.
inline const std::vector<VirtualName>& some_virtual_names() {
  // Numbers of the source, not places in this list.
  static const std::vector<VirtualName> names{
      {"instructions", "", "Instructions", 10},
      {"loads", "", "Memory reads", 11},
      {"load_bytes", "B", "Bytes read", 12},
      {"flops", "", "Floating-point operations", 13},
      {"branch_misses", "", "Mispredicted", 14, VirtualKind::modelled}};
  return names;
}

class Tree {
 public:
  Tree() {
    std::string name = testing::TempDir() + "/loft-tree-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  Tree(Tree&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Tree& operator=(Tree&&) = delete;
  ~Tree() {
    if (!path_.empty()) std::filesystem::remove_all(path_);
  }

  Tree& file(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(path_ + path).parent_path());
    std::ofstream(path_ + path) << content << '\n';
    return *this;
  }
  Tree& pmu(const std::string& name, int type) {
    pmu_ = "/sys/bus/event_source/devices/" + name;
    return file(pmu_ + "/type", std::to_string(type));
  }
  Tree& format(const std::string& name, const std::string& bits) {
    return file(pmu_ + "/format/" + name, bits);
  }
  Tree& event(const std::string& name, const std::string& terms) {
    return file(pmu_ + "/events/" + name, terms);
  }
  Tree& cpumask(const std::string& list) { return file(pmu_ + "/cpumask", list); }
  Tree& cpus(const std::string& list) { return file(pmu_ + "/cpus", list); }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Resolver resolver(PlainNames plain_names = PlainNames::never_virtual) const {
    ResolverOptions options;
    options.plain_names = plain_names;
    options.virtual_names = some_virtual_names;
    options.root = SystemRoot(path_);
    options.config_directory = path_ + "/config";
    options.share_directory = LOFT_SOURCE_DIR "/share";
    return Resolver(options);
  }

 private:
  std::string path_;
  std::string pmu_;
};

inline Tree& add_software(Tree& tree) {
  return tree.pmu("software", 1).pmu("tracepoint", 2).pmu("breakpoint", 5);
}

inline Tree& add_x86_core(Tree& tree, const std::string& name, int type) {
  return tree.pmu(name, type)
      .format("event", "config:0-7")
      .format("umask", "config:8-15")
      .format("edge", "config:18")
      .format("inv", "config:23")
      .format("cmask", "config:24-31");
}

inline Tree intel_machine() {
  Tree tree;
  add_software(tree);
  add_x86_core(tree, "cpu", 4)
      .format("offcore_rsp", "config1:0-63")
      .format("ldlat", "config1:0-15")
      .event("cpu-cycles", "event=0x3c")
      .event("instructions", "event=0xc0")
      .event("mem-loads", "event=0xcd,umask=0x1,ldlat=3")
      .event("topdown-total-slots", "event=0x3c,umask=0x0,any=1");
  tree.format("any", "config:21");
  for (int i = 0; i < 2; ++i)
    tree.pmu("uncore_imc_" + std::to_string(i), 14 + i)
        .format("event", "config:0-7")
        .format("umask", "config:8-15")
        .cpumask("0,18")
        .event("cas_count_read", "event=0x04,umask=0x03")
        .event("cas_count_read.scale", "6.103515625e-5")
        .event("cas_count_read.unit", "MiB")
        .event("clockticks", "event=0x00");
  tree.pmu("uncore_cha_0", 20)
      .format("event", "config:0-7")
      .format("wide", "config:0-3,32-35")
      .format("extra", "config3:0-3")
      .cpumask("0,18")
      .event("clockticks", "event=0x00")
      .event("open", "event=0x1,wide=?");
  tree.pmu("power", 22)
      .format("event", "config:0-7")
      .cpumask("0,18")
      .event("energy-pkg", "event=0x02")
      .event("energy-pkg.scale", "2.3283064365386962890625e-10")
      .event("energy-pkg.unit", "Joules");
  tree.file("/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85");
  return tree;
}

inline Tree hybrid_machine() {
  Tree tree;
  add_software(tree);
  add_x86_core(tree, "cpu_core", 4).cpus("0-3").event("cpu-cycles", "event=0x3c");
  add_x86_core(tree, "cpu_atom", 10).cpus("4-7").event("cpu-cycles", "event=0x3c");
  return tree;
}

inline Tree zen_machine() {
  Tree tree;
  add_software(tree);
  add_x86_core(tree, "cpu", 4)
      .format("event", "config:0-7,32-35")
      .event("cpu-cycles", "event=0x76");
  tree.file("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1");
  return tree;
}

inline Tree arm_machine() {
  Tree tree;
  add_software(tree);
  tree.pmu("armv8_pmuv3_0", 8)
      .cpus("0-3")
      .format("event", "config:0-15")
      .event("cpu_cycles", "event=0x0011")
      .event("inst_retired", "event=0x0008")
      .event("l1d_cache_refill", "event=0x0003");
  return tree;
}

// No PMU of a core: the usual virtual machine.
inline Tree cloud_machine() {
  Tree tree;
  add_software(tree);
  tree.pmu("msr", 9).format("event", "config:0-63").event("tsc", "event=0x00");
  tree.file("/sys/kernel/tracing/events/sched/sched_switch/id", "314");
  tree.file("/sys/kernel/tracing/events/sched/enable", "0");
  return tree;
}

}  // namespace loft::event
