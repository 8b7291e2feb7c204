// Ten million slices of a metric with ten operands, on one core; and one evaluation of it on counts
// by name, as `loft stat` does at its end and at each interval.
//   metric_columns [ROWS]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "base/clock.hpp"
#include "metric/program.hpp"
#include "metric/reader.hpp"

namespace {

using namespace loft;

constexpr const char* kMetric =
    "metric m = (a * 4 + b * 12.1 + c * 53.6 + d * 441) / e + (f - g) / h + max(i, j) * 1e-9\n";

int run(std::size_t rows) {
  metric::Library library;
  library.add(metric::read_loft("bench", kMetric), metric::Tier::command);
  const auto program = metric::compile(library, "m");
  if (!program) return 1;
  std::mt19937_64 random(1);
  std::vector<std::vector<double>> data(program->inputs().size(), std::vector<double>(rows));
  for (auto& column : data)
    for (double& value : column) value = static_cast<double>(random() % 1000000 + 1);
  const std::vector<std::span<const double>> columns(data.begin(), data.end());
  std::vector<double> out(rows);
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    const auto start = now(CLOCK_THREAD_CPUTIME_ID);
    program->evaluate_columns(columns, out);
    seconds.push_back(to_seconds(now(CLOCK_THREAD_CPUTIME_ID) - start));
  }
  std::ranges::sort(seconds);
  fmt::print("{} rows, {} operands: median {:.3f} s, best {:.3f} s of CPU time\n", rows,
             data.size(), seconds[2], seconds[0]);
  metric::CountSet counts;
  for (const std::string& name : program->inputs())
    counts.add(name, metric::Quantity::exact(metric::Number::of(1000)));
  constexpr int kEvaluations = 10000;
  bool has_value = true;
  const auto start = now(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < kEvaluations; ++i)
    has_value = has_value && program->evaluate(counts).number.has_value();
  const double each = to_seconds(now(CLOCK_THREAD_CPUTIME_ID) - start) / kEvaluations;
  fmt::print("one evaluation on counts: {:.2f} us of CPU time\n", each * 1e6);
  return has_value ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000);
}
