// Programs that count and mark parts of themselves through libloft, under the engine.
#ifdef LOFT_OWN_COUNTS
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "engine/run.hpp"

namespace loft {
namespace {

using testing::ContainsRegex;

TEST(OwnCounts, AreExactInsideTheEngine) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  auto run = engine::Run::prepare({LOFT_OWN_COUNTS});
  ASSERT_TRUE(run) << to_string(run.error());
  ASSERT_TRUE(run->start());
  const auto end = run->wait();
  ASSERT_TRUE(end) << to_string(end.error());
  EXPECT_EQ(end->shell_status(), 0) << "the program has printed what failed";
}

std::string output_of(const std::string& command) {
  std::string output;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), got);
  return ::pclose(pipe) == 0 ? output : "failed: " + output;
}

// A folder with what a test builds, removed with it.
class Built {
 public:
  Built() { ::mkdtemp(folder_.data()); }
  Built(const Built&) = delete;
  Built& operator=(const Built&) = delete;
  ~Built() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_ = testing::TempDir() + "regions-XXXXXX";
};

std::string counted(const std::string& program) {
  return output_of("cd " LOFT_SOURCES " && LOFT_ENGINE=" LOFT_ENGINE_FILE
                   " LD_LIBRARY_PATH=" LOFT_LIBRARY_FOLDER " PYTHONPATH=bindings " LOFT_PROGRAM
                   " stat --by region -e instructions,flops -- " +
                   program);
}

constexpr const char* kSweeps = " 3 +[0-9,]+ +3,000 +sweep";

TEST(Regions, OfTheExampleInCAreCounted) {
  const Built built;
  const std::string program = built.folder() + "/regions";
  const std::string made =
      output_of("cd " LOFT_SOURCES " && cc -O1 -Iinclude examples/regions.c -o " + program +
                " -L" LOFT_LIBRARY_FOLDER " -lloft");
  ASSERT_EQ(made, "");
  const std::string shown = counted(program);
  EXPECT_THAT(shown, ContainsRegex(kSweeps));
  EXPECT_THAT(shown, testing::HasSubstr("3000 operations"));
}

TEST(Regions, OfTheExampleInFortranAreCounted) {
  if (output_of("gfortran --version").starts_with("failed"))
    GTEST_SKIP() << "gfortran is not installed";
  const Built built;
  const std::string program = built.folder() + "/regions";
  const std::string made = output_of("cd " LOFT_SOURCES " && gfortran -J " + built.folder() +
                                     " bindings/loft.f90 examples/regions.f90 -o " + program +
                                     " -L" LOFT_LIBRARY_FOLDER " -lloft");
  ASSERT_EQ(made, "");
  EXPECT_THAT(counted(program), ContainsRegex(kSweeps));
}

TEST(Regions, OfTheExampleInPythonAreCounted) {
  if (output_of("python3 --version").starts_with("failed"))
    GTEST_SKIP() << "python3 is not installed";
  EXPECT_THAT(counted("python3 examples/regions.py"), ContainsRegex(" 3 +[0-9,]+ +[0-9,]+ +sweep"));
}

}  // namespace
}  // namespace loft
#endif
