// Source lines and inlined calls, against the source itself and against addr2line.
#include <thread>

#include "symbols/interval_map.hpp"
#include "symbols/workshop.hpp"

namespace loft::symbols {
namespace {

// Line numbers below are those of this text; it starts on line 1.
constexpr const char* kInlined = R"(volatile int sink;
namespace app {
inline __attribute__((always_inline)) void innermost(int x) {
  sink = x;
  __asm__ volatile("mark_inner: nop");
}
struct Middle {
  __attribute__((always_inline)) void run(int x) const {
    innermost(x + 1);
  }
};
}
__attribute__((noinline)) void outer(int x) {
  app::Middle().run(x);
  __asm__ volatile("mark_outer: nop");
}
int main(int count, char**) {
  outer(count);
}
)";

class Dwarf : public Workshop, public testing::WithParamInterface<const char*> {
 protected:
  // Parameters are a compiler and flags: "g++ -gdwarf-5".
  [[nodiscard]] bool compile_with_parameter(const std::string& source, const std::string& output) {
    const std::string parameter = GetParam();
    const std::size_t blank = parameter.find(' ');
    const std::string compiler = parameter.substr(0, blank);
    if (compiler != "c++" && !has_tool(compiler)) return false;
    compile(source, "-O2 " + parameter.substr(blank + 1), output,
            compiler == "c++" ? LOFT_CXX : compiler);
    return true;
  }

  // Where a label of the assembly is.
  [[nodiscard]] std::uint64_t label(const std::string& name) const {
    const std::string symbols = run("nm program");
    const std::size_t at = symbols.find(" t " + name);
    EXPECT_NE(at, std::string::npos) << symbols;
    return *parse_hex(symbols.substr(at - 16, 16));
  }
};

TEST_P(Dwarf, LinesAndInlinedCallsAreThoseOfTheSource) {
  if (!compile_with_parameter(kInlined, "program")) GTEST_SKIP() << "compiler not installed";
  const auto table = SymbolStore(sealed()).open({.path = at("program")});
  const std::string file = at("program.cpp");
  const auto strip = [&](std::string_view path) {  // a relative name starts where g++ ran
    return std::filesystem::weakly_canonical(std::filesystem::path(folder_) / path).string();
  };

  const std::uint64_t inner = label("mark_inner");
  ASSERT_TRUE(table->line(inner));
  EXPECT_EQ(table->line(inner)->line, 5u);
  EXPECT_EQ(strip(table->line(inner)->file), std::filesystem::weakly_canonical(file));
  const auto frames = table->inlined(inner);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "app::Middle::run");
  EXPECT_EQ(frames[0].call.line, 14u);
  EXPECT_EQ(frames[1].function, "app::innermost");
  EXPECT_EQ(frames[1].call.line, 9u);
  EXPECT_EQ(strip(frames[1].call.file), std::filesystem::weakly_canonical(file));

  const std::uint64_t outer = label("mark_outer");
  EXPECT_EQ(table->line(outer)->line, 15u);
  EXPECT_TRUE(table->inlined(outer).empty());
}

// Two lines per frame: function, then file:line.
std::vector<std::string> lines_as_addr2line_prints(const SymbolTable& table,
                                                   std::uint64_t address) {
  const auto number = [](unsigned line) { return line == 0 ? "?" : std::to_string(line); };
  const auto line = table.line(address);
  std::vector<std::string> printed;
  std::string current = line ? number(line->line) : "?";
  const auto frames = table.inlined(address);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    printed.push_back(current);
    current = number(frame->call.line);
  }
  printed.push_back(current);
  return printed;
}

// The line numbers of `addr2line -i` for one address after the other.
std::vector<std::vector<std::string>> lines_of_addr2line(const std::string& output) {
  std::vector<std::vector<std::string>> all;
  for (std::string_view line : split(output, '\n')) {
    if (line.starts_with("0x")) {
      all.emplace_back();
    } else if (!line.empty() && !all.empty()) {
      line = line.substr(0, line.find(" (discriminator"));
      all.back().emplace_back(line.substr(line.rfind(':') + 1));
    }
  }
  return all;
}

// binutils 2.40 reads neither the range lists of clang's DWARF 5 nor 64-bit DWARF 5.
class AgainstAddr2line : public Dwarf {};

TEST_P(AgainstAddr2line, TheLinesAreTheSameAtEveryByte) {
  if (!compile_with_parameter("#include <algorithm>\n#include <string>\n#include <vector>\n"
                              "int main(int c, char** v) { std::vector<std::string> a(v, v + c);\n"
                              "  std::sort(a.begin(), a.end());\n"
                              "  auto count = [&](auto x) { return a.size() + x; };\n"
                              "  return static_cast<int>(count(a[0].size())); }",
                              "program"))
    GTEST_SKIP() << "compiler not installed";
  const auto table = SymbolStore(sealed()).open({.path = at("program")});
  std::vector<std::uint64_t> addresses;
  for (const auto& [name, address] : functions_by_nm("program")) {
    const Symbol* symbol = table->find(address);
    if (symbol == nullptr || !table->line(address)) continue;
    for (std::uint64_t at = symbol->start; at < symbol->start + symbol->size; ++at)
      addresses.push_back(at);
  }
  ASSERT_GT(addresses.size(), 100u);
  std::string list;
  for (const std::uint64_t address : addresses) {
    char text[32];
    std::snprintf(text, sizeof text, "%lx\n", static_cast<unsigned long>(address));
    list += text;
  }
  write("addresses", list);
  const auto theirs = lines_of_addr2line(run("addr2line -a -i -e program < addresses"));
  ASSERT_EQ(theirs.size(), addresses.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto ours = lines_as_addr2line_prints(*table, addresses[i]);
    if (ours == theirs[i]) continue;
    ++different;
    if (different < 5)
      ADD_FAILURE() << std::hex << addresses[i] << ": " << testing::PrintToString(ours) << " and "
                    << testing::PrintToString(theirs[i]);
  }
  EXPECT_EQ(different, 0u) << "of " << addresses.size();
}

INSTANTIATE_TEST_SUITE_P(Kinds, Dwarf,
                         testing::Values("c++ -gdwarf-5", "c++ -gdwarf-4 -no-pie",
                                         "c++ -gdwarf-5 -gz=zlib", "c++ -gdwarf-5 -gdwarf64",
                                         "c++ -gdwarf-4 -ffunction-sections -Wl,--gc-sections",
                                         "clang++ -gdwarf-5", "clang++ -gdwarf-4"));

INSTANTIATE_TEST_SUITE_P(Kinds, AgainstAddr2line,
                         testing::Values("c++ -gdwarf-5",
                                         "c++ -gdwarf-4 -ffunction-sections -Wl,--gc-sections",
                                         "clang++ -gdwarf-4"));

class DwarfFiles : public Workshop {};

TEST_F(DwarfFiles, WhatDwzSharedIsFollowed) {
  if (!has_tool("dwz")) GTEST_SKIP() << "dwz is not installed";
  compile(kInlined, "-O2 -g", "one");
  compile(kInlined, "-O2 -g", "two");
  run("dwz -m shared.dwz -M " + at("shared.dwz") + " one two");
  ASSERT_NE(run("readelf -SW two").find(".gnu_debugaltlink"), std::string::npos);
  const auto table = SymbolStore(sealed()).open({.path = at("two")});
  const std::string symbols = run("nm two");
  const std::uint64_t inner = *parse_hex(symbols.substr(symbols.find(" t mark_inner") - 16, 16));
  const auto frames = table->inlined(inner);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[1].function, "app::innermost");
  EXPECT_EQ(table->line(inner)->line, 5u);
}

TEST_F(DwarfFiles, ThreadsMayAskTogether) {
  compile(kInlined, "-O2 -g", "program");
  const auto table = SymbolStore(sealed()).open({.path = at("program")});
  const auto functions = functions_by_nm("program");
  std::vector<std::thread> threads;
  std::vector<std::size_t> found(4, 0);
  for (std::size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] {
      for (const auto& [name, address] : functions) {
        found[i] += table->find(address) != nullptr ? 1 : 0;
        found[i] += table->line(address) ? 1 : 0;
        found[i] += table->inlined(address).size();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(found[0], functions.size());
  for (const std::size_t count : found) EXPECT_EQ(count, found[0]);
}

TEST_F(DwarfFiles, DebugInformationIsNotReadWhenNotWanted) {
  compile(kInlined, "-O2 -g", "program");
  SymbolOptions options = sealed();
  options.debug_info = false;
  const auto table = SymbolStore(options).open({.path = at("program")});
  EXPECT_FALSE(table->line(address_by_nm("program", "main")));
}

TEST(IntervalMap, FindsTheInnermost) {
  const IntervalMap map({{10, 100, 0}, {20, 50, 1}, {20, 30, 2}, {60, 70, 3}, {200, 210, 4}});
  EXPECT_EQ(map.find(9), std::nullopt);
  EXPECT_EQ(map.find(10), 0u);
  EXPECT_EQ(map.find(20), 2u);
  EXPECT_EQ(map.find(30), 1u);
  EXPECT_EQ(map.find(50), 0u);
  EXPECT_EQ(map.find(65), 3u);
  EXPECT_EQ(map.find(99), 0u);
  EXPECT_EQ(map.find(100), std::nullopt);
  EXPECT_EQ(map.find(205), 4u);
  EXPECT_EQ(map.find(~0ull), std::nullopt);
}

TEST(IntervalMap, CutsWhatCrosses) {
  const IntervalMap map({{10, 20, 0}, {15, 30, 1}, {18, 19, 2}});
  EXPECT_EQ(map.find(16), 1u);
  EXPECT_EQ(map.find(18), 2u);
  EXPECT_EQ(map.find(25), std::nullopt);
}

}  // namespace
}  // namespace loft::symbols
