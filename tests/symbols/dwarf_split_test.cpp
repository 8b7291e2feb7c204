// Split DWARF: inlined calls whose entries are in .dwo files, or in a .dwp.
#include <map>

#include "symbols/workshop.hpp"

namespace loft::symbols {
namespace {

constexpr const char* kProgram = R"(volatile int sink;
namespace app {
inline __attribute__((always_inline)) int innermost(int x) {
  if (x > 3) sink = x * 7; else sink = x / 5;
  return sink + x;
}
inline __attribute__((always_inline)) int middle(int x) {
  int sum = 0;
  for (int i = 0; i < x; ++i) sum += innermost(i);
  return sum;
}
}
__attribute__((noinline, cold)) int rare(int x) { return app::innermost(x) + 1; }
__attribute__((noinline)) int outer(int x) { return app::middle(x) + app::innermost(x); }
int main(int count, char**) { return outer(count) + (count > 9 ? rare(count) : 0); }
)";

// Parameters are a compiler and flags: "g++ -gdwarf-5".
class SplitDwarf : public Workshop, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    const std::string parameter = GetParam();
    compiler_ = parameter.substr(0, parameter.find(' '));
    flags_ = "-O2 " + parameter.substr(parameter.find(' ') + 1);
    if (compiler_ == "c++") compiler_ = LOFT_CXX;
    if (!has_tool(compiler_)) GTEST_SKIP() << compiler_ << " is not installed";
    write("program.cpp", kProgram);
    run(compiler_ + " " + flags_ + " program.cpp -o whole");
    // In two steps, so that all compilers put the .dwo beside the object.
    run(compiler_ + " " + flags_ + " -gsplit-dwarf -c program.cpp -o split.o");
    run(compiler_ + " split.o -o split");
    for (const char* file : {"whole", "split"})
      for (const auto& [name, address] : functions_by_nm(file))
        if (name == "_Z5outeri" || name == "_Z4rarei") starts_[file].push_back(address);
  }

  // Every address of the text with all its inlined frames.
  [[nodiscard]] std::string frames_of(const std::string& file) const {
    const auto table = SymbolStore(sealed()).open({.path = at(file)});
    std::string text;
    for (const std::uint64_t start : starts_.at(file)) {
      for (std::uint64_t offset = 0; offset < 64; ++offset) {
        text += std::to_string(offset);
        for (const auto& frame : table->inlined(start + offset))
          text += " " + std::string(frame.function) + ":" + std::to_string(frame.call.line);
        text += '\n';
      }
    }
    return text;
  }

  std::string compiler_;
  std::map<std::string, std::vector<std::uint64_t>> starts_;  // of the functions, by file
  std::string flags_;
};

TEST_P(SplitDwarf, InlinedCallsAreThoseOfTheProgramThatIsNotSplit) {
  const std::string expected = frames_of("whole");
  ASSERT_NE(expected.find("app::innermost"), std::string::npos) << expected;
  EXPECT_EQ(frames_of("split"), expected);
}

TEST_P(SplitDwarf, APackageBesideTheProgramServesAsWell) {
  // binutils packs DWARF 4 alone, and LLVM's tool never ends on what g++ makes of DWARF 5.
  const bool is_gnu = std::string(GetParam()).starts_with("c++");
  const std::string tool = is_gnu ? "dwp" : "llvm-dwp";
  if (is_gnu && flags_.find("dwarf-5") != std::string::npos) GTEST_SKIP() << "no tool packs it";
  if (!has_tool(tool)) GTEST_SKIP() << tool << " is not installed";
  run("timeout 20 " + tool + " split.dwo -o split.dwp && rm split.dwo");
  EXPECT_EQ(frames_of("split"), frames_of("whole"));
}

TEST_P(SplitDwarf, AFileOfAnotherBuildIsNotTaken) {
  const std::string with_file = frames_of("split");
  run("sed -i 's/x \\* 7/x * 7 + 1 + x/' program.cpp");
  run(compiler_ + " " + flags_ + " -gsplit-dwarf -c program.cpp -o split.o");
  EXPECT_NE(frames_of("split"), with_file) << "its entries are of other code";
}

TEST_P(SplitDwarf, DamagedFilesDoNoHarm) {
  const auto whole = read_file(at("split.dwo"));
  ASSERT_TRUE(whole);
  for (std::size_t at = 64; at < whole->size(); at += 197) {
    std::string damaged = *whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    write("split.dwo", damaged);
    (void)frames_of("split");
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, SplitDwarf,
                         testing::Values("c++ -gdwarf-5", "c++ -gdwarf-4", "clang++ -gdwarf-5",
                                         "clang++ -gdwarf-4"));

}  // namespace
}  // namespace loft::symbols
