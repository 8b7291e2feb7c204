#include "view/annotate.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace loft::view {
namespace {

using testing::HasSubstr;
using testing::Not;

model::Annotation annotation() {
  model::AnnotatedFunction sum;
  sum.name = "sum";
  sum.binary = "/bin/app";
  sum.address = 0x1000;
  sum.seconds = 0.5;
  sum.share_of_time = 0.8;
  sum.samples = 200;
  sum.places.push_back({"/src/sum.c", 7, "  s += a[i];", {}});
  sum.code.resize(7);
  for (std::size_t i = 0; i < sum.code.size(); ++i) {
    sum.code[i].address = 0x1000 + 4 * i;
    sum.code[i].text = "nop";
    sum.code[i].count = 1;
  }
  model::AnnotatedInstruction& add = sum.code[5];
  add.text = "vaddpd ymm0, ymm0, ymmword ptr [rax+rcx*8+0x1234567890]";
  add.count = 123456789012;
  add.samples = 190;
  add.share = 0.95;
  add.waited = 0.97;
  add.wait = core::Wait::operation;
  add.waits_for = 0x1018;
  add.place = 1;
  sum.code[6].text = "jnz 0x1014";
  sum.code[6].count.reset();
  sum.code[6].target = 0x1014;
  sum.code[6].samples = 10;
  sum.code[6].share = 0.05;
  sum.code[6].place = 1;
  model::Annotation all;
  all.functions = {sum};
  return all;
}

TEST(AnnotateText, FitsEightyColumnsAndMarksWhatHoldsBack) {
  const std::string text = annotate_text(annotation());
  for (const auto line : split(text, '\n')) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(text, HasSubstr("sum.c:7  s += a[i];"));
  EXPECT_THAT(text, HasSubstr("*  ~95 %    123 G   +14 vaddpd"));
  EXPECT_THAT(text, HasSubstr("its result 97 % <+18"));
  EXPECT_THAT(text, HasSubstr("~5.0 %        -   +18 jnz +14"));
  EXPECT_THAT(text, Not(HasSubstr("ymmword")));
}

TEST(AnnotateText, OfSampledEventsEachHasAColumn) {
  model::Annotation all = annotation();
  all.events = {"cycles:u", "cache-misses:u"};
  model::AnnotatedFunction& sum = all.functions.front();
  sum.seconds = 0;
  sum.others = {{12, 0.5}};
  for (model::AnnotatedInstruction& each : sum.code) {
    each.count.reset();
    each.waited.reset();
    each.others = {{}};
  }
  sum.code[6].others = {{12, 1}};
  const std::string text = annotate_text(all);
  EXPECT_THAT(text, HasSubstr("~80 % of cycles:u, ~50 % of cache-misses:u, 200 samples"));
  EXPECT_THAT(text, HasSubstr("cycles:u misses:u    at code"));
  EXPECT_THAT(text, HasSubstr("  ~5.0 %   ~100 %   +18 jnz +14"));
  EXPECT_THAT(text, Not(HasSubstr("runs")));
  const auto json = nlohmann::json::parse(annotate_json(all));
  const auto& instruction = json["functions"][0]["instructions"][6];
  EXPECT_EQ(instruction["events"]["cache-misses:u"]["samples"], 12);
  EXPECT_DOUBLE_EQ(instruction["events"]["cycles:u"]["share"].get<double>(), 0.05);
  EXPECT_TRUE(json["functions"][0]["seconds"].is_null());
  EXPECT_EQ(json["events"][1], "cache-misses:u");
  EXPECT_THAT(annotate_csv(all), HasSubstr(",samples of cache-misses:u,share of cache-misses:u\n"));
}

TEST(AnnotateText, NamesOfColumnsAreWholeWordsAndNoSampleIsNoShare) {
  model::Annotation all = annotation();
  all.events = {"cpu-clock", "page-faults"};
  all.functions.front().others = {{0, 0}};
  const std::string text = annotate_text(all);
  EXPECT_THAT(text, HasSubstr("   clock   faults    at code"));
  EXPECT_THAT(text, HasSubstr("~80 % of cpu-clock, no sample of page-faults, 200 samples"));
}

TEST(AnnotateText, LeavesOutCodeThatTookNoTimeUnlessAskedFor) {
  EXPECT_THAT(annotate_text(annotation()), HasSubstr("... 5 instructions"));
  EXPECT_THAT(annotate_text(annotation(), {.all = true}), Not(HasSubstr("... ")));
}

TEST(AnnotateText, NamesMoveNoCursor) {
  auto hostile = annotation();
  hostile.functions[0].name = "a\x1b[2J\nb";
  hostile.functions[0].places[1].text = "\x1b]0;x\x07";
  const std::string text = annotate_text(hostile);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
}

TEST(AnnotateJson, WhatIsNotKnownIsNull) {
  const auto json = nlohmann::json::parse(annotate_json(annotation()));
  EXPECT_EQ(json["schema"], "loft.annotate/1");
  const auto& function = json["functions"][0];
  EXPECT_EQ(function["instructions"][5]["count"], 123456789012);
  EXPECT_EQ(function["instructions"][5]["wait"], "operation");
  EXPECT_TRUE(function["instructions"][6]["count"].is_null());
  EXPECT_TRUE(function["instructions"][6]["waited"].is_null());
  EXPECT_TRUE(function["instructions"][0]["file"].is_null());
  ASSERT_EQ(function["lines"].size(), 2u);
  EXPECT_EQ(function["lines"][1]["line"], 7);
  EXPECT_EQ(function["lines"][1]["samples"], 200);
}

TEST(AnnotateCsv, HasOneRowForEachInstruction) {
  const std::string text = annotate_csv(annotation());
  EXPECT_EQ(std::ranges::count(text, '\n'), 8);
  EXPECT_THAT(text, HasSubstr("sum,/bin/app,0x1018,jnz 0x1014,/src/sum.c,7,,10,0.05,,\n"));
}

}  // namespace
}  // namespace loft::view
