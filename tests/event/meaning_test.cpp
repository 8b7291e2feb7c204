#include "event/meaning.hpp"

#include <gtest/gtest.h>

#include "event/event.hpp"

namespace loft::event {
namespace {

TEST(PlainName, IsTheSameHoweverAnEventIsWritten) {
  for (const char* name :
       {"instructions", "instructions:u", "cpu/instructions/", "cpu_core/instructions/u",
        "INSTRUCTIONS", "virtual::instructions", "sysfs:instructions", " instructions:ukhpp "})
    EXPECT_EQ(plain_name(name), "instructions") << name;
  for (const char* name :
       {"INST_RETIRED.ANY", "INST_RETIRED:ANY", "inst_retired_any", "pfm:INST-RETIRED:ANY"})
    EXPECT_EQ(plain_name(name), "inst_retired_any") << name;
}

TEST(PlainName, KeepsWhatIsNoName) {
  EXPECT_EQ(plain_name("cpu/event=0x3c/"), "cpu/event=0x3c/");
  EXPECT_EQ(plain_name("sched:sched_switch"), "sched_sched_switch") << "no modifier";
}

TEST(Meaning, ComesFromTheEncodingWhereThatSaysIt) {
  EXPECT_EQ(meaning_of(Encoding{"cpu", kTypeHardware, 1}, "whatever"), Meaning::instructions);
  EXPECT_EQ(meaning_of(Encoding{"cpu_atom", kTypeHardware, 10ull << 32}, ""), Meaning::cycles);
  EXPECT_EQ(meaning_of(Encoding{"cpu", kTypeHwCache, 0x10002}, ""), Meaning::llc_load_misses);
  EXPECT_EQ(meaning_of(Encoding{"software", kTypeSoftware, 1}, "instructions"),
            Meaning::task_clock);
  EXPECT_EQ(meaning_of(Encoding{"software", kTypeSoftware, 9}, "instructions"), Meaning::other);
}

TEST(Meaning, ComesFromTheNameOfARawCode) {
  EXPECT_EQ(meaning_of(Encoding{"cpu", kTypeRaw, 0xc0}, "cpu/instructions/"),
            Meaning::instructions);
  EXPECT_EQ(meaning_of(Encoding{"cpu", kTypeRaw, 0xc0}, "r00c0"), Meaning::other);
  EXPECT_EQ(meaning_of("cpu-cycles:u"), Meaning::cycles);
  EXPECT_EQ(meaning_of("branch-instructions"), Meaning::branches);
}

TEST(PmuKind, IsThatOfTheType) {
  EXPECT_EQ(Encoding({"cpu", kTypeRaw}).kind(), PmuKind::core);
  EXPECT_EQ(Encoding({"software", kTypeSoftware}).kind(), PmuKind::software);
  EXPECT_EQ(Encoding({"power", 22}).kind(), PmuKind::device);
  EXPECT_EQ(virtual_encoding(3).kind(), PmuKind::virtual_pmu);
}

}  // namespace
}  // namespace loft::event
