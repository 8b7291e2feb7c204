// Blocks with counts, samples at addresses and windows become annotated code.
#include "roof/annotate.hpp"

#include <gmock/gmock.h>

#include "roof/work_events.hpp"

namespace loft::roof {
namespace {

using testing::ElementsAre;

// A loop of two instructions, 4 and 6 bytes long, that ran a hundred times, at 0x1000 of /bin/app.
sample::RunCounts counted() {
  sample::RunCounts run;
  sample::CountedEvent event;
  event.name = "instructions";
  run.events = {event};
  sample::BlockCounts block;
  block.function = "sum";
  block.binary = "/bin/app";
  block.offset = 0x10;
  block.address = 0x1010;
  block.end = 0x101a;
  block.code = {"addsd xmm0, qword ptr [rax]", "jnz 0x1010"};
  block.instructions = {{4, 64, true, false}, {6, 0, false, false}};
  block.target = 0x1010;
  block.counts = {sample::Count::exact(200)};
  run.blocks = {block};
  return run;
}

class NoSources : public Sources {
 public:
  model::SourcePlace at(const std::string&, std::uint64_t address) override {
    return address < 0x1014 ? model::SourcePlace{"/src/sum.c", 7, "s += a[i];", {}}
                            : model::SourcePlace{"/src/sum.h", 3, "", {"next"}};
  }
};

model::RoofPoint point_of(const std::string& name, double share) {
  model::RoofPoint point;
  point.subject.scope = model::Scope::function;
  point.subject.name = name;
  point.subject.binary = "/bin/app";
  point.subject.seconds = share;
  point.subject.share_of_time = share;
  return point;
}

TEST(Code, EveryInstructionOfABlockRanAsOftenAsTheBlock) {
  const CodeByFunction code = code_of(counted());
  ASSERT_EQ(code.size(), 1u);
  const FunctionCode& sum = code.begin()->second;
  EXPECT_EQ(sum.address, 0x1000u);
  ASSERT_EQ(sum.code.size(), 2u);
  EXPECT_EQ(sum.code.at(0x1010).count, 100);
  EXPECT_EQ(sum.code.at(0x1014).text, "jnz 0x1010");
  EXPECT_EQ(sum.code.at(0x1014).target, 0x1010u);
}

TEST(Annotate, InstructionsHaveTheirShareOfTheFunctionsSamples) {
  const CodeByFunction code = code_of(counted());
  const AddressTimes times{{{"sum", "/bin/app"}, {{0x1010, {30, 30}}, {0x1016, {10, 10}}}}};
  NoSources sources;
  const auto functions = annotate(code, times, {point_of("sum", 0.8)}, {}, sources);
  ASSERT_EQ(functions.size(), 1u);
  ASSERT_EQ(functions[0].code.size(), 2u);
  EXPECT_EQ(functions[0].samples, 40u);
  EXPECT_DOUBLE_EQ(functions[0].code[0].share, 0.75);
  EXPECT_EQ(functions[0].code[1].samples, 10u) << "a sample inside an instruction met it";
  EXPECT_FALSE(functions[0].code[0].waited) << "nothing was modelled";
  EXPECT_EQ(functions[0].place_of(functions[0].code[0]).line, 7u);
  EXPECT_THAT(functions[0].place_of(functions[0].code[1]).inlined, ElementsAre("next"));
}

TEST(Annotate, AWholeNameMeansThatFunctionAlone) {
  auto run = counted();
  run.blocks.push_back(run.blocks[0]);
  run.blocks[1].function = "checksum";
  const CodeByFunction code = code_of(run);
  NoSources sources;
  const std::vector points{point_of("sum", 0.1), point_of("checksum", 0.8)};
  const auto both = annotate(code, {}, points, {.names = {"su"}, .top = 5}, sources);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].name, "checksum");
  const auto one = annotate(code, {}, points, {.names = {"sum"}, .top = 5}, sources);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].name, "sum");
}

TEST(Annotate, WithoutANameThoseAreShownThatTookTime) {
  const CodeByFunction code = code_of(counted());
  NoSources sources;
  EXPECT_TRUE(annotate(code, {}, {point_of("other", 0.8)}, {}, sources).empty());
  EXPECT_TRUE(annotate(code, {}, {point_of("sum", 0.1)}, {.least_share = 0.2}, sources).empty());
}

}  // namespace
}  // namespace loft::roof
