#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "examples/header_example.hpp"

namespace loft::examples {
namespace {

std::vector<std::string> codes(const HeaderExample& example) {
  std::vector<std::string> all;
  for (const Line& line : example.lines) all.push_back(line.code);
  return all;
}

TEST(HeaderExample, IsTheIndentedPartOfTheOpeningComment) {
  const auto example = example_of(
      "// What it is for.\n//\n//   Thing thing;\n//   thing.run();   // goes on\n//\n// More.\n"
      "#pragma once\nnamespace loft::event {\n//   Not this;\n");
  ASSERT_TRUE(example);
  EXPECT_EQ(example->scope, "loft::event");
  EXPECT_THAT(codes(*example), testing::ElementsAre("Thing thing;", "thing.run();"));
  EXPECT_EQ(example->lines[1].number, 4u);
}

TEST(HeaderExample, ATableIsNone) {
  EXPECT_FALSE(
      example_of("// Names:\n//   cycles   the kernel's\n//   rNNNN    raw\n#pragma once\n"));
  EXPECT_FALSE(example_of("// Nothing indented.\n#pragma once\n"));
}

TEST(HeaderExample, GapsAreFilledIn) {
  const auto example = example_of(
      "//   run([&] { ... });\n//   ...\n//   for (const auto& a : all) ...\n//   while (...) "
      "go();\n");
  ASSERT_TRUE(example);
  EXPECT_THAT(codes(*example),
              testing::ElementsAre("run([&] { });", "", "for (const auto& a : all) {}",
                                   "while (true) go();"));
}

TEST(HeaderExample, ALineWithoutAnEndShowsAValue) {
  const auto example =
      example_of("//   run(a,\n//       b);\n//   a.value()   // 3\n//   if (a)\n//     go();\n");
  ASSERT_TRUE(example);
  EXPECT_THAT(codes(*example),
              testing::ElementsAre("run(a,", "b);", "a.value();", "if (a)", "go();"));
}

TEST(HeaderExample, BecomesAFunctionInTheNamespaceOfItsHeader) {
  const HeaderExample example{"loft::event", {{7, "use(it);"}}};
  const Context context =
      context_of("[other.hpp]\nint no;\n[event/a.hpp]\n#include <map>\nint it;\n", "event/a.hpp");
  EXPECT_THAT(context.includes, testing::ElementsAre("#include <map>"));
  EXPECT_EQ(
      as_source(example, "event/a.hpp", context, 3),
      "namespace loft::event {\nnamespace example_3 {\nint it;\n"
      "loft::Result<int> example_3() {\n#line 7 \"event/a.hpp\"\nuse(it);\nreturn 0;\n}\n}\n}\n");
}

TEST(HeaderExample, AFunctionStaysOne) {
  const HeaderExample example{"", {{1, "void add(int& app) {"}, {2, "}"}}};
  EXPECT_EQ(as_source(example, "a.hpp", {}, 0),
            "namespace example_0 {\n#line 1 \"a.hpp\"\nvoid add(int& app) {\n}\n}\n");
}

struct Header {
  std::string path;  // as it is included
  std::string text;
};

std::vector<Header> headers_below(const std::string& root) {
  std::vector<Header> headers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const auto extension = entry.path().extension();
    if (extension != ".hpp" && extension != ".h") continue;
    headers.push_back({entry.path().lexically_relative(root).string(),
                       read_file(entry.path().string()).value_or("")});
  }
  std::sort(headers.begin(), headers.end(),
            [](const Header& a, const Header& b) { return a.path < b.path; });
  return headers;
}

class Examples : public TemporaryFolder {};

TEST_F(Examples, OfAllHeadersCompile) {
  const auto contexts = read_file(LOFT_SOURCE_DIR "/tests/examples/contexts.txt");
  ASSERT_TRUE(contexts);
  const Context all = context_of(*contexts, "*");
  std::string includes = "#include \"base/result.hpp\"\n";
  for (const std::string& line : all.includes) includes += line + "\n";
  std::string sources;
  std::size_t number = 0;
  for (const char* root : {LOFT_SOURCE_DIR "/include", LOFT_SOURCE_DIR "/src"}) {
    for (const Header& header : headers_below(root)) {
      if (header.path.starts_with("engine/runtime/")) continue;  // of a program of its own
      const auto example = example_of(header.text);
      if (!example) continue;
      const Context context = context_of(*contexts, header.path);
      includes += "#include \"" + header.path + "\"\n";
      for (const std::string& line : context.includes) includes += line + "\n";
      sources += as_source(*example, header.path, context, ++number);
    }
  }
  EXPECT_GT(number, 50u);
  const std::string file = path_ + "/examples.cpp";
  ASSERT_TRUE(replace_file(file, includes + all.declarations + sources));
  const std::string log = path_ + "/log";
  const std::string command =
      std::string(LOFT_CXX " -fsyntax-only -w -fmax-errors=200 " LOFT_EXAMPLE_FLAGS " ") + file +
      " 2>" + log;
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(log).value_or("");
}

// What the examples that draw are given: the fields that they use, as loft writes them.
class Drawings : public TemporaryFolder {
 protected:
  [[nodiscard]] int run(const std::string& line) const {
    return std::system(("cd '" + path_ + "' && " + line + " >said 2>&1").c_str());
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    return read_file(path_ + "/" + name).value_or("");
  }
  void write(const std::string& name, std::string_view what) const {
    ASSERT_TRUE(replace_file(path_ + "/" + name, what));
  }
  const std::string examples_ = LOFT_SOURCE_DIR "/examples/";
};

TEST_F(Drawings, PythonDrawsTheJsonOfARoofline) {
  const std::string python =
      run("python3 -c 'import matplotlib'") == 0 ? "python3" : "/usr/bin/python3";
  if (run(python + " -c 'import matplotlib'") != 0) GTEST_SKIP() << "matplotlib is not installed";
  write("roof.json", R"({"schema":"loft.roof/1","command":["./app"],"points":[
      {"scope":"run","name":"./app","gflops":5.3,"intensity":0.13,"share_of_time":1},
      {"scope":"function","name":"solve","gflops":4.6,"intensity":4,"share_of_time":0.5},
      {"scope":"function","name":"main","gflops":null,"intensity":null,"share_of_time":null}]})");
  write("machine.json", R"({"roofs":[
      {"kind":"flops","precision":"dp","threads":1,"best":9e10,"verdict":"stable"},
      {"kind":"flops","precision":"sp","threads":1,"best":2e11,"verdict":"stable"},
      {"kind":"bandwidth","level":"L1","threads":1,"best":3e11,"verdict":"stable"},
      {"kind":"bandwidth","level":"DRAM","threads":1,"best":5e10,"verdict":"noisy"}]})");
  ASSERT_EQ(run(python + " " + examples_ + "plot_roofline.py roof.json machine.json a.svg"), 0)
      << text("said");
  EXPECT_THAT(text("said"), testing::HasSubstr("2 points under 3 roofs"));
  EXPECT_THAT(text("a.svg"), testing::HasSubstr("</svg>"));
}

TEST_F(Drawings, GnuplotDrawsTheCsvOfCounts) {
  if (run("gnuplot --version") != 0) GTEST_SKIP() << "gnuplot is not installed";
  write("counts.csv",
        "scope,part,event,value,unit,kind,running,why,binary,low,high\n"
        "run,,instructions,1010,,counted,1.0000,,,,\n"
        "function,first,instructions,10,,counted,1.0000,,/bin/app,,\n"
        "function,hottest,instructions,1000,,counted,1.0000,,/bin/app,,\n"
        "function,elsewhere,flops,5,,counted,1.0000,,/bin/app,,\n");
  ASSERT_EQ(run("gnuplot " + examples_ + "plot_functions.gp"), 0) << text("said");
  const std::string drawn = text("counts.svg");
  EXPECT_LT(drawn.find("hottest"), drawn.find("first")) << "the largest comes first";
  EXPECT_THAT(drawn, testing::HasSubstr("first"));
  EXPECT_THAT(drawn, testing::Not(testing::HasSubstr("elsewhere")));
}

}  // namespace
}  // namespace loft::examples
