#include "roof/run_file.hpp"

#include <gmock/gmock.h>

namespace loft::roof {
namespace {

using testing::HasSubstr;

sample::RunCounts native() {
  sample::RunCounts native;
  native.command = {"./app", "x"};
  native.exit_status = 3;
  native.wall = Nanoseconds(2'000'000'000);
  native.notes = {"a note"};
  native.energy = {{"package-0", 7.5, {{0.5, 7.5}}, false, sample::Origin::modelled}};
  sample::CountedEvent clock;
  clock.total = sample::Count::exact(1'900'000'000);
  native.events = {clock};
  return native;
}

CountedWork counted() {
  CountedWork counted;
  counted.by = CountedBy::counters;
  counted.origin = sample::Origin::modelled;
  counted.total = model::Work{.flops_sp = 1,
                              .flops_dp = 2.5,
                              .bytes = 3,
                              .instructions = std::nullopt,
                              .widths = {4, 5, 6, 7},
                              .flops_fma = 8,
                              .levels = {.l2 = 20, .l3 = {}, .dram = 10.5}};
  counted.bytes_are_of_memory = true;
  counted.threads = {{7, "app", std::nullopt}};
  counted.functions = {{{"dot", "/bin/app"}, model::Work{.flops_dp = 1, .instructions = 9}}};
  return counted;
}

TEST(RunFile, WhatWasWrittenIsRead) {
  KeptRun kept;
  const auto read = read_work("x.data", work_json(native(), counted()), kept);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(kept.native.command, native().command);
  EXPECT_EQ(kept.native.exit_status, 3);
  EXPECT_EQ(kept.native.wall, native().wall);
  EXPECT_EQ(kept.native.events.at(0).total.raw, 1'900'000'000u);
  EXPECT_EQ(kept.native.energy.at(0).over_time.at(0).joules, 7.5);
  EXPECT_EQ(kept.native.energy.at(0).origin, sample::Origin::modelled);
  EXPECT_EQ(kept.counted.by, CountedBy::counters);
  EXPECT_EQ(kept.counted.origin, sample::Origin::modelled);
  const model::Work total = kept.counted.total.value();
  EXPECT_EQ(total.flops_dp, 2.5);
  EXPECT_EQ(total.flops_fma, 8);
  EXPECT_EQ(total.widths.bits512, 7);
  EXPECT_FALSE(total.instructions);
  EXPECT_EQ(total.levels, counted().total->levels);
  EXPECT_TRUE(kept.counted.bytes_are_of_memory);
  EXPECT_FALSE(kept.counted.threads.at(0).work) << "what is not known is not 0";
  EXPECT_EQ(kept.counted.functions.at(0).key.binary, "/bin/app");
  EXPECT_EQ(kept.counted.functions.at(0).work.value().instructions, 9);
}

// Whoever wrote the text: each damage is an error that names the field, and nothing else happens.
TEST(RunFile, DamageIsRefusedByName) {
  const std::string good = work_json(native(), counted());
  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    KeptRun kept;
    const auto read = read_work("x.data", text, kept);
    return read ? std::string("read") : to_string(read.error());
  };
  EXPECT_THAT(damaged("\"wall_ns\"", "\"wall\""), HasSubstr("'wall_ns'"));
  EXPECT_THAT(damaged("\"flops_dp\":2.5", "\"flops_dp\":-1"), HasSubstr("'flops_dp'"));
  EXPECT_THAT(damaged("\"flops_dp\":2.5", "\"flops_dp\":\"x\""), HasSubstr("'flops_dp'"));
  EXPECT_THAT(damaged("\"DRAM\":10.5", "\"DRAM\":-1"), HasSubstr("'DRAM'"));
  EXPECT_THAT(damaged("\"tid\":7", "\"tid\":[]"), HasSubstr("'tid'"));
  EXPECT_THAT(damaged("loft.work/2", "loft.work/9"), HasSubstr("'schema'"));
  KeptRun kept;
  for (const char* text : {"", "null", "[]", "{", "\"x\"", "{\"schema\":{}}"})
    EXPECT_FALSE(read_work("x.data", text, kept)) << text;
}

}  // namespace
}  // namespace loft::roof
