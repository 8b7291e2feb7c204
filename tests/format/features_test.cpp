// What a recording says about itself, in both byte orders; what lies about its size is refused.
#include "format/perf/features.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/builders.hpp"
#include "format/perf/event_name.hpp"
#include "format/perf/foreign.hpp"

namespace loft::format::perf {
namespace {

using perf_data::Metadata;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Features : public testing::TestWithParam<ByteOrder> {
 protected:
  [[nodiscard]] static ByteBuilder body() { return ByteBuilder(GetParam()); }
  // As perf writes it: the size with its padding first.
  static ByteBuilder& add_text(ByteBuilder& out, std::string_view value) {
    const std::size_t size = (value.size() + 1 + 63) / 64 * 64;
    return out.u32(static_cast<std::uint32_t>(size)).text_padded(value, 64);
  }
  static bool read(Feature feature, const ByteBuilder& bytes, Metadata& out) {
    return read_feature(static_cast<std::uint32_t>(feature), bytes.view(), GetParam(), out);
  }
  // Neither crashes nor takes a part for the whole.
  static void expect_refused_when_cut(Feature feature, const ByteBuilder& bytes) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      Metadata out;
      EXPECT_FALSE(read_feature(static_cast<std::uint32_t>(feature), bytes.view().first(size),
                                GetParam(), out))
          << name_of_feature(static_cast<std::uint32_t>(feature)) << " of " << size << " bytes";
    }
  }
};

INSTANTIATE_TEST_SUITE_P(BothOrders, Features, testing::Values(ByteOrder::little, ByteOrder::big));

TEST_P(Features, TextsOfTheMachine) {
  for (const auto& [feature, member] :
       {std::pair(Feature::hostname, &Metadata::hostname),
        std::pair(Feature::os_release, &Metadata::os_release),
        std::pair(Feature::version, &Metadata::perf_version),
        std::pair(Feature::arch, &Metadata::arch), std::pair(Feature::cpuid, &Metadata::cpuid)}) {
    auto bytes = body();
    add_text(bytes, "some text");
    Metadata out;
    ASSERT_TRUE(read(feature, bytes, out));
    EXPECT_EQ(out.*member, "some text");
    expect_refused_when_cut(feature, bytes);
  }
}

TEST_P(Features, BuildIdsOfBinaries) {
  constexpr std::uint16_t kKernel = 1;
  constexpr std::uint16_t kUser = 2;
  const auto add = [](ByteBuilder& out, std::uint16_t misc, std::uint8_t size,
                      std::string_view path) {
    ByteBuilder name(GetParam());
    name.text_padded(path, 64);
    out.u32(0).u16(misc).u16(static_cast<std::uint16_t>(36 + name.size())).u32(7);
    for (std::uint8_t i = 0; i < 20; ++i) out.u8(static_cast<std::uint8_t>(0xA0 + i));
    out.u8(size).u8(0).u16(0).bytes(name.view());
  };
  auto bytes = body();
  add(bytes, kKernel | kMiscBuildIdSize, 2, "[kernel.kallsyms]");
  add(bytes, kUser, 0, "/bin/app");                       // before perf 5.11: always 20 bytes
  add(bytes, kUser | kMiscBuildIdSize, 200, "/bin/lie");  // more than there is room for
  Metadata out;
  ASSERT_TRUE(read(Feature::build_id, bytes, out));
  ASSERT_EQ(out.build_ids.size(), 3u);
  EXPECT_EQ(out.build_ids[0].build_id, "a0a1");
  EXPECT_TRUE(out.build_ids[0].is_kernel);
  EXPECT_EQ(out.build_ids[1].build_id, "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
  EXPECT_FALSE(out.build_ids[1].is_kernel);
  EXPECT_EQ(out.build_ids[1].path, "/bin/app");
  EXPECT_EQ(out.build_ids[2].build_id.size(), 40u);
  Metadata cut;
  EXPECT_FALSE(read_feature(static_cast<std::uint32_t>(Feature::build_id),
                            bytes.view().first(bytes.size() - 1), GetParam(), cut));
}

TEST_P(Features, NumbersOfTheMachine) {
  Metadata out;
  EXPECT_TRUE(read(Feature::cpu_count, body().u32(8).u32(4), out));
  EXPECT_TRUE(read(Feature::total_memory, body().u64(1u << 20), out));
  EXPECT_TRUE(read(Feature::sample_time, body().u64(5).u64(9), out));
  EXPECT_TRUE(read(Feature::compressed, body().u32(1).u32(1).u32(3).u32(0).u32(0), out));
  EXPECT_EQ(out.cpus_available, 8u);
  EXPECT_EQ(out.cpus_online, 4u);
  EXPECT_EQ(out.total_memory_kib, 1u << 20);
  EXPECT_EQ(out.sample_time, (std::pair<std::uint64_t, std::uint64_t>(5, 9)));
  EXPECT_EQ(out.compression_level, 3u);
  Metadata damaged;
  EXPECT_FALSE(read(Feature::sample_time, body().u64(5), damaged));
  EXPECT_FALSE(damaged.sample_time) << "half of it is none";
}

TEST_P(Features, TheCommandLineIsAList) {
  auto bytes = body().u32(2);
  add_text(bytes, "perf");
  add_text(bytes, "record");
  Metadata out;
  ASSERT_TRUE(read(Feature::command_line, bytes, out));
  EXPECT_THAT(out.command_line, ElementsAre("perf", "record"));
  expect_refused_when_cut(Feature::command_line, bytes);
  Metadata none;
  EXPECT_FALSE(read(Feature::command_line, body().u32(0xffffffff), none));
  EXPECT_TRUE(none.command_line.empty());
}

TEST_P(Features, CachesAndNodes) {
  auto caches = body().u32(1).u32(1).u32(2).u32(64).u32(1024).u32(16);
  for (const char* text : {"Unified", "1024K", "0-3"}) add_text(caches, text);
  Metadata out;
  ASSERT_TRUE(read(Feature::cache, caches, out));
  ASSERT_EQ(out.caches.size(), 1u);
  EXPECT_EQ(out.caches[0].level, 2u);
  EXPECT_EQ(out.caches[0].ways, 16u);
  EXPECT_EQ(out.caches[0].size, "1024K");
  expect_refused_when_cut(Feature::cache, caches);

  auto nodes = body().u32(1).u32(0).u64(1000).u64(10);
  add_text(nodes, "0-7");
  ASSERT_TRUE(read(Feature::numa_topology, nodes, out));
  EXPECT_EQ(out.numa_nodes.at(0).free_kib, 10u);
  EXPECT_EQ(out.numa_nodes.at(0).cpus, "0-7");
  expect_refused_when_cut(Feature::numa_topology, nodes);
}

TEST_P(Features, BlocksOfMemoryAreCountedByTheirBits) {
  const auto bytes =
      body().u64(1).u64(1u << 27).u64(1).u64(0).u64(72).u64(72).u64(~std::uint64_t{0}).u64(5);
  Metadata out;
  ASSERT_TRUE(read(Feature::memory_topology, bytes, out));
  EXPECT_EQ(out.memory_nodes.at(0).blocks, 66u);
  Metadata lie;
  EXPECT_FALSE(read(Feature::memory_topology,
                    body().u64(1).u64(1).u64(1).u64(0).u64(0).u64(~std::uint64_t{0}), lie));
}

TEST_P(Features, PmusHaveNamesAndCapabilities) {
  auto types = body().u32(2).u32(4);
  add_text(types, "cpu");
  types.u32(11);
  add_text(types, "uncore_imc_0");
  Metadata out;
  ASSERT_TRUE(read(Feature::pmu_mappings, types, out));
  EXPECT_THAT(out.pmu_types, ElementsAre(Pair(4u, "cpu"), Pair(11u, "uncore_imc_0")));
  auto caps = body().u32(1);
  add_text(caps, "branches");
  add_text(caps, "32");
  ASSERT_TRUE(read(Feature::cpu_pmu_caps, caps, out));
  EXPECT_EQ(out.pmu_capabilities.at(0).pmu, "cpu");
  EXPECT_THAT(out.pmu_capabilities.at(0).values, ElementsAre(Pair("branches", "32")));
  expect_refused_when_cut(Feature::cpu_pmu_caps, caps);
}

TEST_P(Features, AnEventKeepsItsIdsAndGetsItsName) {
  auto bytes = body().u32(1).u32(64);
  auto attr = attr_bytes({.type = 1, .config = 1, .attr_size = 64}, GetParam());
  bytes.bytes(attr).u32(1);
  add_text(bytes, "task-clock");
  bytes.u64(77);
  Metadata alone;
  ASSERT_TRUE(read(Feature::event_description, bytes, alone));
  EXPECT_EQ(alone.events.at(0).name, "task-clock");
  EXPECT_THAT(alone.events.at(0).ids, ElementsAre(77u));
  Metadata with_list;
  with_list.events.emplace_back().ids = {5};
  ASSERT_TRUE(read(Feature::event_description, bytes, with_list));
  EXPECT_EQ(with_list.events.at(0).name, "task-clock");
  EXPECT_THAT(with_list.events.at(0).ids, ElementsAre(5u)) << "the list of attributes knows better";
  Metadata damaged;
  EXPECT_FALSE(read(Feature::event_description, body().u32(1).u32(8), damaged)) << "no such size";
}

TEST_P(Features, AnUnknownOneIsKeptAsBytes) {
  Metadata out;
  EXPECT_TRUE(read_feature(200, body().text("anything").view(), GetParam(), out));
  EXPECT_THAT(out.other_features, ElementsAre(Pair(200u, "anything")));
  EXPECT_EQ(name_of_feature(200), "");
  EXPECT_EQ(name_of_feature(3), "HOSTNAME");
  EXPECT_EQ(name_of_feature(128), "SIMPLEPERF_FILE");
}

TEST(EventName, IsWhatThePerfToolCallsIt) {
  Metadata metadata;
  metadata.pmu_types = {{11, "uncore_imc_0"}};
  const auto name = [&](std::uint32_t type, std::uint64_t config) {
    perf_data::EventAttr attr;
    attr.type = type;
    attr.config = config;
    return name_of_event(attr, metadata);
  };
  EXPECT_EQ(name(0, 0), "cycles");
  EXPECT_EQ(name(0, 0x800000001), "instructions") << "the upper half names a PMU of a hybrid CPU";
  EXPECT_EQ(name(0, 10), "hardware 0xa");
  EXPECT_EQ(name(1, 2), "page-faults");
  EXPECT_EQ(name(1, 99), "software 0x63");
  EXPECT_EQ(name(3, 0x10000), "L1-dcache-load-misses");
  EXPECT_EQ(name(3, 0x0103), "dTLB-stores");
  EXPECT_EQ(name(3, 0x0007), "cache 0x7");
  EXPECT_EQ(name(4, 0x1c2), "raw 0x1c2");
  EXPECT_EQ(name(11, 0x304), "uncore_imc_0/config=0x304/");
  EXPECT_EQ(name(12, 1), "pmu 12 0x1");
}

TEST(EventName, HasItsModifiers) {
  perf_data::EventAttr attr;
  attr.exclude_kernel = true;
  attr.precise_ip = 2;
  EXPECT_EQ(name_of_event(attr, {}), "cycles:upp");
  attr.exclude_user = true;
  EXPECT_EQ(name_of_event(attr, {}), "cycles:pp") << "neither is as good as both";
  attr = {};
  attr.exclude_user = true;
  EXPECT_EQ(name_of_event(attr, {}), "cycles:k");
}

TEST(Foreign, SaysWhatAFileIsInstead) {
  const auto why = [](std::string_view text) {
    return recognize_foreign(std::as_bytes(std::span(text.data(), text.size()))).why;
  };
  EXPECT_EQ(why(""), "it is empty");
  EXPECT_EQ(why("\x7f"
                "ELF..."),
            "it is a program or a library");
  EXPECT_EQ(why("\x1f\x8b\x08"), "it is compressed with gzip");
  EXPECT_EQ(why(std::string(100, '\0')), "it starts with nothing but zeros");
  EXPECT_THAT(why("{\"a\": 1}"), HasSubstr("JSON"));
  EXPECT_THAT(why("app 123 cycles:\n"), HasSubstr("text"));
  std::string tar(600, 'x');
  tar.replace(257, 5, "ustar");
  EXPECT_EQ(why(tar), "it is a tar archive");
  EXPECT_THAT(why("\x01\x02\x03"), HasSubstr("PERFILE2"));
}

}  // namespace
}  // namespace loft::format::perf
