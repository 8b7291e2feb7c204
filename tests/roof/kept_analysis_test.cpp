#include "roof/kept_analysis.hpp"

#include <gmock/gmock.h>

namespace loft::roof {
namespace {

KeptAnalysis analysis() {
  KeptAnalysis analysis;
  model::Why why;
  why.outcome = model::Outcome::limited;
  why.limit = core::Cause::dram_latency;
  why.gain = 4;
  why.explains = 0.98;
  why.evidence = "727 loads";
  why.what_if = {{core::Cause::dram_latency, 4}, {core::Cause::tlb, 1.2}};
  analysis.verdicts[{"chase", "/bin/app"}] = why;
  analysis.slices = {{0.1, why}};
  analysis.phases = {{"chase", "/bin/app", 0.1, 0.7, 3, why}};
  LoopWork loop;
  loop.function = {"chase", "/bin/app"};
  loop.facts.lines = "chase.c:7-9";
  loop.facts.iterations = 1e9;
  loop.facts.vector_bits = 256;
  loop.work.instructions = 5e9;
  loop.code = {{0x10, 0x20}};
  analysis.loops = {loop};
  model::AnnotatedFunction function;
  function.name = "chase";
  function.why = why;
  function.places.push_back({"/src/chase.c", 7, "p = p->next;", {"next"}});
  function.code.resize(1);
  function.code[0].text = "mov rax, qword ptr [rax]";
  function.code[0].waited = 0.9;
  function.code[0].wait = core::Wait::memory;
  function.code[0].waits_for = 0x10;
  function.code[0].place = 1;
  analysis.code = {function};
  return analysis;
}

TEST(KeptAnalysis, WhatWasWrittenIsRead) {
  const auto read = read_analysis("x.data", analysis_json(analysis()));
  ASSERT_TRUE(read) << to_string(read.error());
  const model::Why& why = read->verdicts.at({"chase", "/bin/app"});
  EXPECT_EQ(why.outcome, model::Outcome::limited);
  EXPECT_EQ(why.limit, core::Cause::dram_latency);
  EXPECT_FALSE(why.second);
  EXPECT_FALSE(why.model_cycles) << "what is not known is not 0";
  EXPECT_EQ(why.what_if, analysis().verdicts.begin()->second.what_if);
  ASSERT_EQ(read->slices.size(), 1u);
  EXPECT_EQ(read->slices[0].first, 0.1);
  EXPECT_EQ(read->slices[0].second.limit, core::Cause::dram_latency);
  ASSERT_EQ(read->phases.size(), 1u);
  EXPECT_EQ(read->phases[0].function, "chase");
  EXPECT_EQ(read->phases[0].end, 0.7);
  EXPECT_EQ(read->phases[0].windows, 3u);
  EXPECT_EQ(read->phases[0].why.gain, 4);
  const LoopWork& loop = read->loops.at(0);
  EXPECT_EQ(loop.facts.lines, "chase.c:7-9");
  EXPECT_EQ(loop.facts.vector_bits, 256);
  EXPECT_FALSE(loop.facts.trips);
  EXPECT_EQ(loop.work.instructions, 5e9);
  EXPECT_EQ(loop.code.at(0).end, 0x20u);
  const model::AnnotatedFunction& function = read->code.at(0);
  EXPECT_EQ(function.why->gain, 4);
  EXPECT_EQ(function.place_of(function.code.at(0)).inlined.at(0), "next");
  EXPECT_EQ(function.code[0].wait, core::Wait::memory);
  EXPECT_FALSE(function.code[0].count);
}

TEST(KeptAnalysis, DamagedTextIsAnErrorAndPlacesStayInside) {
  const std::string good = analysis_json(analysis());
  EXPECT_FALSE(read_analysis("x.data", ""));
  EXPECT_FALSE(read_analysis("x.data", "[]"));
  for (std::size_t cut = 1; cut < good.size(); cut += 37)
    EXPECT_FALSE(read_analysis("x.data", good.substr(0, cut)));
  std::string wrong = good;
  const std::string place = "\"place\":1";
  wrong.replace(wrong.find(place), place.size(), "\"place\":9");
  const auto read = read_analysis("x.data", wrong);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->code.at(0).code.at(0).place, 0u);
  const std::string number = "\"iterations\":1000000000.0";
  wrong = good;
  ASSERT_NE(wrong.find(number), std::string::npos);
  wrong.replace(wrong.find(number), number.size(), "\"iterations\":\"x\"");
  EXPECT_FALSE(read_analysis("x.data", wrong));
}

}  // namespace
}  // namespace loft::roof
