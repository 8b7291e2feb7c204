#include "model/power.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "metric/program.hpp"
#include "metric/reader.hpp"

namespace loft::model {
namespace {

using testing::HasSubstr;

// Watts that are exactly base + 2e-9 a + 5e-8 b, plus noise; four programs of different character.
PowerData generated(double noise, std::size_t rows_per_program = 50) {
  PowerData data;
  data.predictors = {"a", "b"};
  data.columns.resize(2);
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0.5, 1.5);
  std::normal_distribution<double> normal(0, 1);
  for (int program = 0; program < 4; ++program) {
    for (std::size_t row = 0; row < rows_per_program; ++row) {
      const double a = 1e9 * (1 + program) * uniform(random);
      const double b = 1e8 * (4 - program) * uniform(random);
      data.columns[0].push_back(a);
      data.columns[1].push_back(b);
      data.watts.push_back(30 + 2e-9 * a + 5e-8 * b + noise * normal(random));
      data.programs.push_back("p" + std::to_string(program));
    }
  }
  return data;
}

TEST(PowerFit, RecoversKnownCoefficients) {
  for (const FitMethod method : {FitMethod::least_squares, FitMethod::non_negative}) {
    const auto fit = fit_power(generated(0), {method, 5});
    ASSERT_TRUE(fit) << to_string(fit.error());
    EXPECT_NEAR(fit->base, 30, 1e-6);
    EXPECT_NEAR(fit->coefficients[0], 2e-9, 1e-15);
    EXPECT_NEAR(fit->coefficients[1], 5e-8, 1e-14);
    EXPECT_LT(fit->held_out.median_error, 1e-9);
    EXPECT_EQ(fit->held_out.parts.size(), 4u);
  }
}

TEST(PowerFit, NoiseShowsInTheHeldOutError) {
  const auto fit = fit_power(generated(2));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->held_out.rms_error, 2, 0.5);
  EXPECT_NEAR(fit->held_out.error95, 2 * 1.96, 1.0);
  EXPECT_NEAR(fit->coefficients[0], 2e-9, 4e-10);
}

TEST(PowerFit, HoldsOutWholeProgramsNotRows) {
  // A program with a behaviour of its own: rows of it say nothing about it once it is held out.
  PowerData data = generated(0.01);
  for (std::size_t row = 150; row < 200; ++row) data.watts[row] += 40;
  const auto fit = fit_power(data);
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->held_out.parts[3].rms_error, 20);
  EXPECT_GT(fit->held_out.rms_error, 1.5 * fit->fitted_rms_error) << "the fit itself flatters";
}

TEST(PowerFit, BlocksAreContiguousWhereThereAreNoPrograms) {
  PowerData data = generated(0);
  data.programs.clear();
  const auto fit = fit_power(data, {FitMethod::least_squares, 4});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->held_out.parts[1].name, "rows 51-100");
}

TEST(PowerFit, NonNegativeNeverGivesNegativeCoefficients) {
  PowerData data = generated(0.1);
  for (std::size_t row = 0; row < data.watts.size(); ++row)
    data.watts[row] = 200 - 3e-8 * data.columns[1][row] + 2e-9 * data.columns[0][row];
  const auto plain = fit_power(data);
  const auto bounded = fit_power(data, {FitMethod::non_negative, 5});
  ASSERT_TRUE(plain && bounded);
  EXPECT_LT(plain->coefficients[1], 0);
  EXPECT_GE(bounded->coefficients[0], 0);
  EXPECT_EQ(bounded->coefficients[1], 0);
  EXPECT_GE(bounded->base, 0);
}

TEST(PowerFit, DependentPredictorsAreNamed) {
  PowerData data = generated(0.1);
  data.predictors.push_back("twice_a");
  data.columns.push_back(data.columns[0]);
  for (double& value : data.columns.back()) value *= 2;
  const auto fit = fit_power(data);
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().why, HasSubstr("made up by the other predictors"));
}

TEST(PowerFit, RefusesMissingCountsOneProgramAndTooFewRows) {
  PowerData data = generated(0);
  data.columns[1][7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(fit_power(data).error().why, HasSubstr("row 8 has no number for 'b'"));
  data = generated(0);
  std::fill(data.programs.begin(), data.programs.end(), "one");
  EXPECT_THAT(fit_power(data).error().why, HasSubstr("one program"));
  data = generated(0, 1);
  data.watts.resize(3);
  for (auto& column : data.columns) column.resize(3);
  data.programs.clear();
  EXPECT_FALSE(fit_power(data));
}

TEST(PowerFit, TheModelIsAMetricFileThatGivesTheSameWatts) {
  PowerData data = generated(1);
  data.rates = true;
  const auto fit = fit_power(data);
  ASSERT_TRUE(fit);
  const auto file =
      metric::read_loft("model.metrics", metric::write_loft(power_model_file(data, *fit, "power")));
  ASSERT_TRUE(file.diagnostics.empty()) << to_string(file.diagnostics[0]);
  metric::Library library;
  library.add(file, metric::Tier::command);
  const auto program = compile(library, "power");
  ASSERT_TRUE(program) << to_string(program.error());
  metric::CountSet counts;
  counts.add("a", metric::Quantity::exact(metric::Number::real(data.columns[0][0] * 2)));
  counts.add("b", metric::Quantity::exact(metric::Number::real(data.columns[1][0] * 2)));
  counts.add("time", metric::Quantity::exact(metric::Number::of(2)));
  const auto value = program->evaluate(counts);
  ASSERT_TRUE(value.number) << value.why;
  const double expected = fit->base + fit->coefficients[0] * data.columns[0][0] +
                          fit->coefficients[1] * data.columns[1][0];
  EXPECT_NEAR(value.number->as_double(), expected, 1e-9);
  EXPECT_EQ(value.kind, sample::Origin::modelled);
  ASSERT_TRUE(value.ci95);
  EXPECT_NEAR(value.ci95->high - value.ci95->low, 2 * fit->held_out.error95, 1e-6);
}

}  // namespace
}  // namespace loft::model
