#include "metric/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "metric/reader.hpp"

namespace loft::metric {
namespace {

using sample::Count;
using sample::Origin;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

Library library_of(const std::string& text) {
  Library library;
  library.add(read_loft("test.metrics", text), Tier::command);
  for (const Diagnostic& diagnostic : library.diagnostics()) ADD_FAILURE() << to_string(diagnostic);
  return library;
}

CountSet counts_of(std::initializer_list<std::pair<const char*, std::uint64_t>> values) {
  CountSet counts;
  for (const auto& [name, value] : values) counts.add(name, Quantity::exact(Number::of(value)));
  return counts;
}

TEST(Program, NamesWhatHasToBeCountedThroughNestedDefinitions) {
  const Library library =
      library_of("const k = 2\nmetric a = x / y\nmetric b = k * a + a + z\nmetric c = b * b\n");
  const auto program = compile(library, "c");
  ASSERT_TRUE(program);
  EXPECT_THAT(program->inputs(), UnorderedElementsAre("x", "y", "z"));
  ASSERT_EQ(program->constants().size(), 1u);
  EXPECT_EQ(program->constants()[0].origin, "test.metrics:1");
  const Value value = program->evaluate(counts_of({{"x", 6}, {"y", 2}, {"z", 1}}));
  ASSERT_TRUE(value.number);
  EXPECT_EQ(to_string(*value.number), "100");
  EXPECT_EQ(value.kind, Origin::counted);
}

TEST(Program, ACycleIsNamedWithItsPath) {
  const Library library = library_of("metric a = b + 1\nmetric b = c * 2\nmetric c = a\n");
  const auto program = compile(library, "b");
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().why, HasSubstr("b -> c -> a -> b"));
}

TEST(Program, DefinitionsNestToAnyDepthWithoutGrowing) {
  std::string text = "metric m0 = x + x\n";
  for (int i = 1; i < 20000; ++i)
    text += "metric m" + std::to_string(i) + " = m" + std::to_string(i - 1) + " / 2 + m" +
            std::to_string(i - 1) + " / 2\n";
  const Library library = library_of(text);
  const auto program = compile(library, "m19999");
  ASSERT_TRUE(program) << program.error().why;
  const Value value = program->evaluate(counts_of({{"x", 21}}));
  ASSERT_TRUE(value.number);
  EXPECT_EQ(value.number->as_double(), 42);
}

TEST(Program, AMissingOperandMakesTheMetricMissingAndSaysWhich) {
  const Library library = library_of("metric ipc = instructions / cycles\n");
  const auto program = compile(library, "ipc");
  ASSERT_TRUE(program);
  CountSet counts = counts_of({{"instructions", 5}});
  EXPECT_THAT(program->evaluate(counts).why, HasSubstr("'cycles' was not counted"));
  counts.add("cycles", Quantity::of(Count::missing("no PMU")));
  const Value value = program->evaluate(counts);
  EXPECT_FALSE(value.number);
  EXPECT_EQ(value.kind, Origin::missing);
  EXPECT_THAT(value.why, HasSubstr("no PMU"));
}

TEST(Program, DivisionByZeroNamesTheDivisor) {
  const Library library = library_of("metric r = a / (b - c)\n");
  const Value value = compile(library, "r")->evaluate(counts_of({{"a", 1}, {"b", 3}, {"c", 3}}));
  EXPECT_FALSE(value.number);
  EXPECT_EQ(value.why, "division by zero: b - c is 0");
}

TEST(Program, KindIsThatOfTheWeakestOperandUsed) {
  using std::chrono::nanoseconds;
  const Library library = library_of("metric r = if(a > 0, b, c)\nmodel m = a * 2\n");
  CountSet counts;
  counts.add("a", Quantity::of(Count::exact(1)));
  counts.add("b", Quantity::of(Count::of_reading(50, nanoseconds(100), nanoseconds(50))));
  counts.add("c", Quantity::of(Count::missing("x")));
  const Value value = compile(library, "r")->evaluate(counts);
  EXPECT_EQ(value.kind, Origin::scaled);
  EXPECT_EQ(value.number->as_double(), 100);
  EXPECT_EQ(compile(library, "m")->evaluate(counts).kind, Origin::modelled);
}

TEST(Program, TheFirstVariantWithAllItsEventsIsTaken) {
  Library library;
  library.add(read_loft("a", "variant intel\nmetric f = FP_ARITH / time\n"), Tier::shared);
  library.add(read_loft("b", "variant virtual\nmetric f = flops / time\n"), Tier::shared);
  EXPECT_FALSE(library.has_errors());
  const auto here = compile(library, "f", [](std::string_view name) { return name != "FP_ARITH"; });
  ASSERT_TRUE(here);
  EXPECT_EQ(here->variant(), "virtual");
  const auto nowhere = compile(library, "f", [](std::string_view) { return false; });
  ASSERT_TRUE(nowhere);
  EXPECT_EQ(nowhere->variant(), "intel") << "its values say what is missing";
  EXPECT_FALSE(nowhere->evaluate(CountSet()).number);
}

TEST(Program, AliasesStandInOnlyWhereTheEventIsMissing) {
  const Library library = library_of(
      "alias PAPI_TOT_INS = instructions\nalias instructions = PAPI_TOT_INS\n"
      "metric m = PAPI_TOT_INS * 2\n");
  const auto with = compile(library, "m");
  EXPECT_THAT(with->inputs(), ElementsAre("PAPI_TOT_INS"));
  const auto without =
      compile(library, "m", [](std::string_view name) { return name == "instructions"; });
  EXPECT_THAT(without->inputs(), ElementsAre("instructions"));
  const auto neither = compile(library, "m", [](std::string_view) { return false; });
  ASSERT_TRUE(neither) << "aliases of each other are no cycle";
  EXPECT_FALSE(neither->evaluate(CountSet()).number);
}

TEST(Program, AHigherTierReplacesAndTheSameTierComplains) {
  Library library;
  library.add(read_loft("shared", "metric a = x\nmetric b = x\n"), Tier::shared);
  library.add(read_loft("mine", "metric a = y\n"), Tier::user);
  EXPECT_FALSE(library.has_errors());
  EXPECT_THAT(compile(library, "a")->inputs(), ElementsAre("y"));
  library.add(read_loft("other", "metric a = z\nmetric c = w\n"), Tier::user);
  ASSERT_TRUE(library.has_errors());
  EXPECT_THAT(to_string(library.diagnostics()[0]),
              HasSubstr("other:1:8: error: 'a' is defined twice, first at mine:1"));
  EXPECT_TRUE(compile(library, "c")) << "good definitions stay usable";
}

TEST(Program, AConstantCanBeOverridden) {
  Library library;
  library.add(Constant{"L1_lat", Number::of(4), std::nullopt, "machine file"}, Tier::machine);
  library.add(read_papi("fig1", "#define L1_lat 3\nm, x|L1_lat*\n"), Tier::command);
  const auto program = compile(library, "m");
  ASSERT_TRUE(program);
  EXPECT_EQ(program->constants()[0].origin, "fig1:1");
  EXPECT_EQ(program->evaluate(counts_of({{"x", 5}})).number->as_double(), 15);
}

TEST(Program, UnitsThatDoNotFitAreAnError) {
  const Library library = library_of(
      "event flops [FLOP]\nevent load_bytes [B]\nevent time [s]\n"
      "metric bw [B/s] = load_bytes / time\n"
      "metric wrong = bw + flops\n"
      "metric undeclared [FLOP/s] = bw\n"
      "metric right [FLOP/B] = flops / load_bytes\n"
      "metric literal [B] = 64 [B] * lines + load_bytes\n"
      "metric bare [B] = 64 * lines + load_bytes\n");
  EXPECT_TRUE(compile(library, "bw"));
  EXPECT_TRUE(compile(library, "right"));
  EXPECT_TRUE(compile(library, "literal"));
  EXPECT_THAT(compile(library, "wrong").error().why,
              HasSubstr("'+' of B/s and FLOP makes no sense"));
  EXPECT_THAT(compile(library, "undeclared").error().why, HasSubstr("declared in [FLOP/s]"));
  EXPECT_THAT(compile(library, "bare").error().why, HasSubstr("'+' of 1 and B"));
}

TEST(Program, TheInferredUnitIsShown) {
  const Library library =
      library_of("event bytes [B]\nevent time [s]\nmetric bw = bytes / time\nmetric n = a / b\n");
  EXPECT_EQ(compile(library, "bw")->unit().text, "B/s");
  EXPECT_EQ(compile(library, "n")->unit().text, "");
}

TEST(Program, AMetricThatIsOneEventIsThatEvent) {
  const Library library =
      library_of("const k = 3\nmetric a = k\nmetric b = a + x * k\nmetric c = b\nmetric d = a\n");
  EXPECT_EQ(compile(library, "c")->evaluate(counts_of({{"x", 2}})).number->as_double(), 9);
  EXPECT_EQ(compile(library, "d")->evaluate(CountSet()).number->as_double(), 3);
}

TEST(Program, AnUnknownMetricSuggestsItsNeighbours) {
  const Library library = library_of("metric Branch_cat = a / b\n");
  const auto program = compile(library, "Brunch_cat");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::not_found);
  EXPECT_THAT(program.error().hint, HasSubstr("Branch_cat"));
}

TEST(Counts, NamesMeetWithoutModifiersPmuAndPunctuation) {
  const CountSet counts =
      counts_of({{"cpu/cycles/u", 1}, {"INST_RETIRED.ANY", 2}, {"virtual::flops", 3}});
  ASSERT_NE(counts.find("cycles"), nullptr);
  ASSERT_NE(counts.find("inst_retired:any:u"), nullptr);
  ASSERT_NE(counts.find("flops"), nullptr);
  EXPECT_EQ(counts.find("branches"), nullptr);
}

TEST(Counts, ANameThatTwoCountsAnswerToIsMissing) {
  const CountSet counts = counts_of({{"cycles:u", 1}, {"cycles:k", 2}});
  ASSERT_NE(counts.find("cycles"), nullptr);
  EXPECT_EQ(counts.find("cycles")->origin, Origin::missing);
  EXPECT_EQ(counts.find("cycles:k")->value.as_double(), 2);
}

// Columns and single rows must agree on every operation, missing values included.
TEST(Columns, AgreeWithSingleRows) {
  const Library library = library_of(
      "metric m0 = a + b * c - d / a\nmetric m1 = if(a > b, a % 7, b ^ 2) / (c - d)\n"
      "metric m2 = min(a, b) + max(c, d) * (a <= b) - (c != d)\nmetric m3 = -a + bitxor(b, c) / d\n"
      "metric m4 = (a == b) + (a < c) + (a >= d)\nmetric m5 = a\nmetric m6 = (a*b) * (a*b) + "
      "(c+d)*(c+d)\n");
  std::mt19937_64 random(7);
  constexpr std::size_t kRows = 5000;
  std::vector<std::vector<double>> data(4, std::vector<double>(kRows));
  for (auto& column : data)
    for (double& value : column)
      value = random() % 17 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : static_cast<double>(random() % 12);
  for (const std::string& name : library.names()) {
    const auto program = compile(library, name);
    ASSERT_TRUE(program);
    std::vector<std::span<const double>> columns;
    for (const std::string& input : program->inputs())
      columns.emplace_back(data[static_cast<std::size_t>(input[0] - 'a')]);
    std::vector<double> out(kRows);
    program->evaluate_columns(columns, out);
    for (std::size_t row = 0; row < kRows; ++row) {
      CountSet counts;
      for (std::size_t c = 0; c < data.size(); ++c)
        if (!std::isnan(data[c][row]))
          counts.add(std::string(1, static_cast<char>('a' + c)),
                     Quantity::exact(Number::real(data[c][row])));
      const Value value = program->evaluate(counts);
      ASSERT_EQ(value.number.has_value(), !std::isnan(out[row])) << name << " row " << row;
      if (!value.number) continue;
      ASSERT_NEAR(value.number->as_double(), out[row], 1e-9) << name << " row " << row;
    }
  }
}

TEST(Columns, InfinityNeverBecomesANumberAgain) {
  const Library library = library_of("metric m = 1 / (a / b)\n");
  const auto program = compile(library, "m");
  const std::vector<double> a{1};
  const std::vector<double> b{0};
  const std::vector<std::span<const double>> columns{a, b};
  std::vector<double> out(1);
  program->evaluate_columns(columns, out);
  EXPECT_TRUE(std::isnan(out[0]));
}

TEST(Gradient, IsThatOfTheFormula) {
  const Library library = library_of("metric m = a * b / c - a ^ 2 + max(b, c)\n");
  const auto program = compile(library, "m");
  const auto slope = program->gradient(std::vector<double>{2, 3, 4});
  ASSERT_TRUE(slope);
  EXPECT_NEAR((*slope)[0], 3.0 / 4 - 4, 1e-12);
  EXPECT_NEAR((*slope)[1], 2.0 / 4, 1e-12);
  EXPECT_NEAR((*slope)[2], -6.0 / 16 + 1, 1e-12);
}

// The paper's format has no units: there a clock is what counting it shows.
TEST(Program, InFormulasWithoutUnitsAnEventHasTheNumberThatIsShown) {
  Library library;
  library.add(read_loft("units", "event task-clock [ns]\nmetric loft [s] = 'task-clock'\n"),
              Tier::shared);
  library.add(read_papi("p", "Util, task-clock|1e9|/\nBoth, task-clock|loft|/\n"), Tier::user);
  CountSet counts;
  counts.add("task-clock", Quantity::of(sample::Count::exact(2'000'000'000), 1e-9));
  EXPECT_DOUBLE_EQ(compile(library, "loft")->evaluate(counts).number->as_double(), 2);
  EXPECT_DOUBLE_EQ(compile(library, "Util")->evaluate(counts).number->as_double(), 2);
  EXPECT_DOUBLE_EQ(compile(library, "Both")->evaluate(counts).number->as_double(), 1e9);
}

TEST(Program, WithoutAWholeVariantTheNearestIsTaken) {
  Library library;
  library.add(read_loft("a", "variant intel\nmetric f = FP_A + FP_B\n"), Tier::shared);
  library.add(read_loft("b", "variant amd\nmetric f = SSE + time\n"), Tier::shared);
  const auto here = compile(library, "f", [](std::string_view name) { return name == "time"; });
  ASSERT_TRUE(here);
  EXPECT_EQ(here->variant(), "amd");
}

}  // namespace
}  // namespace loft::metric
