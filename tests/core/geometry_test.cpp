#include "core/geometry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loft::core {
namespace {

using testing::HasSubstr;

const HierarchyGeometry& base() { return known_machines()[0].caches; }

TEST(Geometry, KnownMachinesCanBeModelled) {
  EXPECT_GE(known_machines().size(), 5u);
  for (const MachineGeometry& machine : known_machines()) {
    EXPECT_TRUE(check(machine.caches)) << machine.name;
    EXPECT_TRUE(check(machine.tlb)) << machine.name;
    EXPECT_TRUE(check(machine.branches)) << machine.name;
  }
}

TEST(Geometry, TextReadsBack) {
  for (const MachineGeometry& machine : known_machines()) {
    EXPECT_EQ(*parse_caches(to_string(machine.caches), {}), machine.caches) << machine.name;
    EXPECT_EQ(*parse_tlb(to_string(machine.tlb), {}), machine.tlb) << machine.name;
    EXPECT_EQ(*parse_predictor(to_string(machine.branches), machine.branches), machine.branches);
  }
}

TEST(Geometry, LevelsNotNamedStayAsTheyAre) {
  const auto caches = parse_caches("L1D=48k,12:l2=1m,16,64,plru", base());
  ASSERT_TRUE(caches);
  EXPECT_EQ(caches->l1d.bytes, 48u << 10);
  EXPECT_EQ(caches->l1d.sets(), 64u);
  EXPECT_EQ(caches->l2.replacement, Replacement::tree_plru);
  EXPECT_EQ(caches->l3, base().l3);
  EXPECT_EQ(caches->l2_inclusion, base().l2_inclusion);
}

TEST(Geometry, BeginsFromANamedMachine) {
  const auto caches = parse_caches("skylake:L3=none:prefetch=stream8+next", base());
  ASSERT_TRUE(caches);
  EXPECT_EQ(caches->l2.bytes, 256u << 10);
  EXPECT_FALSE(caches->l3.exists());
  EXPECT_TRUE(caches->prefetch.next_line);
  EXPECT_EQ(caches->prefetch.stream_lines, 8);
  EXPECT_EQ(caches->prefetch.stride_steps, 0);
}

TEST(Geometry, SizesTakeUnits) {
  EXPECT_EQ(parse_caches("L3=1G,16", base())->l3.bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(parse_caches("L1D=32768,8", base())->l1d.bytes, 32768u);
}

TEST(Geometry, TlbsTakeEntriesAndWays) {
  const auto tlb = parse_tlb("DTLB=96:STLB=none", known_machines()[0].tlb);
  ASSERT_TRUE(tlb);
  EXPECT_EQ(tlb->dtlb.ways, 96u);
  EXPECT_FALSE(tlb->second.exists());
  EXPECT_EQ(parse_tlb("skylake", {})->second.entries, 1536u);
}

TEST(Geometry, ErrorsNameThePieceAndWhatToWrite) {
  const auto message = [](std::string_view text) {
    const auto result = parse_caches(text, base());
    return result ? std::string("accepted") : to_string(result.error());
  };
  EXPECT_THAT(message("L4=1m,8"), HasSubstr("L1I, L1D, L2, L3 or prefetch"));
  EXPECT_THAT(message("L1D=32k"), HasSubstr("size and ways are missing"));
  EXPECT_THAT(message("L1D=32k,8,64,1"), HasSubstr("'1' is not expected"));
  EXPECT_THAT(message("L1D=32q,8"), HasSubstr("'32q'"));
  EXPECT_THAT(message("L1D=32k,8,exclusive"), HasSubstr("'exclusive'"));
  EXPECT_THAT(message("L1D=32100,8"), HasSubstr("no whole number of sets"));
  EXPECT_THAT(message("L1D=none"), HasSubstr("L1D"));
  EXPECT_THAT(message("pentium"), HasSubstr("zen3"));
  EXPECT_THAT(message(""), HasSubstr("known are"));
  EXPECT_THAT(message("zen3:"), HasSubstr("there is no '='"));
  EXPECT_THAT(message("L3=17179869184g,16"), HasSubstr("not expected"));
  EXPECT_THAT(message("L1D=32k,99999999999"), HasSubstr("not expected"));
  EXPECT_THAT(message("prefetch=stream99"), HasSubstr("no prefetcher"));
  EXPECT_THAT(message("L2=128k,8,128"), HasSubstr("one line size"));
}

TEST(Geometry, RefusesTlbsAndPredictorsThatAreNone) {
  EXPECT_FALSE(parse_tlb("DTLB=64,7", {}));
  EXPECT_FALSE(parse_tlb("DTLB=64,8,2", known_machines()[0].tlb));
  EXPECT_FALSE(parse_tlb("XTLB=64", known_machines()[0].tlb));
  EXPECT_FALSE(parse_tlb("DTLB=none", known_machines()[0].tlb));
  EXPECT_FALSE(parse_predictor("oracle", {}));
  EXPECT_FALSE(parse_predictor("gshare,99", {}));
  EXPECT_FALSE(parse_predictor("gshare,", {}));
  EXPECT_EQ(parse_predictor("gshare,14", {})->table_bits, 14);
}

}  // namespace
}  // namespace loft::core
