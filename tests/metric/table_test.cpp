#include "metric/table.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "metric/evaluation.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Library library() {
  Library library;
  library.add(read_loft("t.metrics",
                        "metric IPC = instructions / cycles\n"
                        "metric misses = llc_misses * 1\n"),
              Tier::user);
  return library;
}

CountsFile table() {
  CountsFile file;
  file.rows = 3;
  file.columns = {{"phase", {NAN, NAN, NAN}, {"init", "solve", "end"}},
                  {"instructions:u", {200, 900, 5}, {}},
                  {"cycles", {100, 300, 0}, {}}};
  return file;
}

std::vector<Program> programs(std::initializer_list<std::string> names) {
  return compile_all(library(), std::vector<std::string>(names), everything_is_available).value();
}

TEST(Table, AMetricHasAValueForEachRow) {
  const CountsFile file = table();
  const MetricColumns columns = evaluate_table(programs({"IPC"}), TableColumns(file));
  EXPECT_THAT(columns.names, ElementsAre("IPC"));
  EXPECT_THAT(columns.labels, ElementsAre("init", "solve", "end"));
  EXPECT_EQ(columns.values[0][0], 2);
  EXPECT_EQ(columns.values[0][1], 3);
  EXPECT_TRUE(std::isnan(columns.values[0][2])) << "no cycles: not available";
  EXPECT_EQ(columns.kinds[0], "counted");
}

TEST(Table, AColumnThatIsNotThereMakesEveryRowUnavailable) {
  const CountsFile file = table();
  const MetricColumns columns = evaluate_table(programs({"misses"}), TableColumns(file));
  for (const double value : columns.values[0]) EXPECT_TRUE(std::isnan(value));
}

TEST(Table, AColumnIsFoundByItsPlainNameUnlessTwoHaveIt) {
  CountsFile file = table();
  EXPECT_EQ(TableColumns(file).find("instructions"), &file.columns[1]);
  file.columns.push_back({"instructions:k", {1, 1, 1}, {}});
  EXPECT_EQ(TableColumns(file).find("instructions"), nullptr);
  EXPECT_EQ(TableColumns(file).find("instructions:k"), &file.columns[3]) << "named exactly";
}

TEST(Possible, AreTheMetricsWhoseEventsAreThere) {
  const auto possible =
      compile_possible(library(), [](std::string_view name) { return name == "llc_misses"; });
  ASSERT_TRUE(possible);
  ASSERT_EQ(possible->size(), 1u);
  EXPECT_EQ(possible->front().name(), "misses");
  const auto none = compile_possible(library(), [](std::string_view) { return false; });
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().why, HasSubstr("no metric"));
}

}  // namespace
}  // namespace loft::metric
