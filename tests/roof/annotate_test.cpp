// Blocks with counts, samples at addresses and windows become annotated code.
#include "roof/annotate.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.hpp"
#include "format/builders.hpp"
#include "roof/sampled_code.hpp"
#include "roof/work_events.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/symbol_store.hpp"

// Samples of a recording are said to have met it.
extern "C" [[gnu::noinline]] int annotated_probe(int value) {
  asm volatile("nop; nop; nop" ::: "memory");
  return value * 3;
}

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

// This very program, said to have been mapped at 0x10000000 and met by samples.
class SampledProbe {
 public:
  SampledProbe() : path_(std::filesystem::read_symlink("/proc/self/exe")) {
    symbols::SymbolStore store;
    const auto table = store.open({.path = path_});
    const auto found = table->named("annotated_probe");
    if (found.size() == 1) address_ = found.front()->start;
    const auto file = symbols::ElfFile::open(path_);
    for (const symbols::ElfSegment& segment : (*file)->segments())
      if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) segment_ = segment;
    recording_.event({.config = 0, .sample_type = kType, .ids = {7}});
    recording_.event({.config = 1, .sample_type = kType, .ids = {8}});
  }
  [[nodiscard]] std::uint64_t address() const { return address_; }
  void map(const std::string& path) {
    auto body = recording_.body();
    body.u32(1).u32(1).u64(kStart).u64(segment_.file_size).u64(segment_.offset);
    body.text_padded(path, (path.size() + 8) / 8 * 8);
    recording_.record(format::perf::RecordType::mmap, 2, body.u32(1).u32(1).u64(1).u64(7));
  }
  void meet(std::uint64_t event, std::uint64_t offset, std::uint64_t period) {
    auto body = recording_.body();
    const std::uint64_t ip = kStart + address_ - segment_.address + offset;
    body.u64(event).u64(ip).u32(1).u32(1).u64(5).u64(period);
    recording_.record(format::perf::RecordType::sample, 2, body);
  }
  [[nodiscard]] Result<model::Annotation> annotate(const AnnotateWanted& wanted) const {
    const auto bytes = recording_.finish();
    LOFT_TRY(const auto recording, source::Recording::of_bytes(bytes));
    return annotate_samples(*recording, wanted);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  static constexpr std::uint64_t kStart = 0x10000000;
  static constexpr std::uint64_t kType = format::perf::kIdentifier | format::perf::kIp |
                                         format::perf::kTid | format::perf::kTime |
                                         format::perf::kPeriod;
  std::string path_;
  std::uint64_t address_ = 0;
  symbols::ElfSegment segment_;
  format::perf::RecordingBuilder recording_;
};

// 30 of 40 at the first instruction, the rest later; all of the second event at the first.
TEST(SampledCode, InstructionsOfTheBinaryHaveTheirSharesOfEachEvent) {
#ifndef LOFT_HAS_ENGINE
  GTEST_SKIP() << "there is no disassembler on this architecture";
#endif
  ASSERT_EQ(annotated_probe(2), 6);
  SampledProbe probe;
  ASSERT_NE(probe.address(), 0u);
  probe.map(probe.path());
  probe.meet(7, 0, 30);
  probe.meet(7, 1, 10);
  probe.meet(8, 0, 5);
  const auto annotation = probe.annotate({.names = {"annotated_pro"}});
  ASSERT_TRUE(annotation) << to_string(annotation.error());
  ASSERT_EQ(annotation->events.size(), 2u);
  ASSERT_EQ(annotation->functions.size(), 1u);
  const model::AnnotatedFunction& function = annotation->functions.front();
  EXPECT_EQ(function.name, "annotated_probe");
  EXPECT_EQ(function.address, probe.address());
  EXPECT_EQ(function.samples, 2u);
  EXPECT_DOUBLE_EQ(function.share_of_time, 1);
  std::vector<std::string> code;
  double share = 0, other = 0;
  for (const model::AnnotatedInstruction& each : function.code) {
    code.push_back(each.text);
    share += each.share;
    other += each.others.at(0).share;
    EXPECT_FALSE(each.count);
  }
  EXPECT_THAT(code, testing::IsSupersetOf({"nop", "nop", "nop"}));
  EXPECT_DOUBLE_EQ(share, 1);
  EXPECT_DOUBLE_EQ(other, 1);
  EXPECT_GE(function.code.front().share, 0.75);
  EXPECT_DOUBLE_EQ(function.code.front().others[0].share, 1);
  EXPECT_EQ(function.code.front().others[0].samples, 1u);
}

TEST(SampledCode, WithoutItsBinaryTheAddressesStand) {
  SampledProbe probe;
  probe.map("/nowhere/app");
  probe.meet(7, 0, 30);
  const auto annotation = probe.annotate({});
  ASSERT_TRUE(annotation) << to_string(annotation.error());
  ASSERT_EQ(annotation->functions.size(), 1u);
  ASSERT_EQ(annotation->functions[0].code.size(), 1u);
  EXPECT_EQ(annotation->functions[0].code[0].text, "");
  EXPECT_EQ(annotation->functions[0].code[0].samples, 1u);
  EXPECT_THAT(annotation->notes,
              ElementsAre(testing::HasSubstr("only addresses that samples met")));
}

TEST(SampledCode, SaysWhatIsMissing) {
  SampledProbe empty;
  EXPECT_THAT(empty.annotate({}).error().why, testing::HasSubstr("no sample in it says where"));
  SampledProbe probe;
  probe.map(probe.path());
  probe.meet(7, 0, 30);
  EXPECT_EQ(probe.annotate({.names = {"nobody"}}).error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace loft::roof
