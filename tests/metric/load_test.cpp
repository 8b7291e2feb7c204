#include "metric/load.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "metric/compile.hpp"
#include "metric/counts.hpp"

namespace loft::metric {
namespace {

class MetricFiles : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    ::setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"PAPI_USER_EVENTS_FILE", "LOFT_METRICS", "XDG_CONFIG_HOME"})
      ::unsetenv(name);
    std::filesystem::remove_all(folder_);
  }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }

  static double number_of(const Library& library, const std::string& name) {
    const auto program = compile(library, name);
    return program ? program->evaluate(CountSet()).number.value_or(Number::real(-1)).as_double()
                   : -2;
  }

  std::string folder_ = testing::TempDir() + "/loft-metrics-XXXXXX";
};

TEST_F(MetricFiles, PapisVariableIsUnderstoodAndOursComesAfterIt) {
  ::setenv("PAPI_USER_EVENTS_FILE", write("papi", "Chain, 100|30|-|20|-\nOnly, 7\n").c_str(), 1);
  ::setenv("LOFT_METRICS", write("own", "Chain, 1\n").c_str(), 1);
  const auto library = load_library({{}, {}, false, true});
  ASSERT_TRUE(library);
  EXPECT_FALSE(library->has_errors());
  EXPECT_EQ(number_of(*library, "Only"), 7);
  EXPECT_EQ(number_of(*library, "Chain"), 1);
  ::unsetenv("LOFT_METRICS");
  EXPECT_EQ(number_of(*load_library({{}, {}, false, true}), "Chain"), 50);
}

TEST_F(MetricFiles, AFileOfPapisThatIsMissingIsADiagnostic) {
  ::setenv("PAPI_USER_EVENTS_FILE", (folder_ + "/none").c_str(), 1);
  const auto library = load_library({{}, {}, false, true});
  ASSERT_TRUE(library);
  EXPECT_TRUE(library->has_errors());
}

}  // namespace
}  // namespace loft::metric
