// Metrics by name, evaluated on counts: what `stat`, `top`, `roof` and `metric eval` show.
//
//   LOFT_TRY(const auto metrics, compile_all(library, names, available));
//   needs(metrics)                                    // the events to count, each once
//   for (const Evaluated& e : evaluate_all(metrics, counts)) print(e);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "metric/program.hpp"
#include "metric/uncertainty.hpp"

namespace loft::metric {

struct Evaluated {
  std::string name;
  std::string description;
  std::string variant;
  Unit unit;
  Value value;
  std::vector<Constant> constants;  // used, with their origins

  // In the metric's unit; nothing when it is not available.
  [[nodiscard]] std::optional<double> in_unit() const;
  [[nodiscard]] std::optional<Interval> ci95_in_unit() const;
};

Evaluated evaluated(const Program& program, Value value);

[[nodiscard]] Result<std::vector<Program>> compile_all(const Library& library,
                                                       std::span<const std::string> names,
                                                       const Available& available);

// All metrics that what is available suffices for; an error where there is none.
[[nodiscard]] Result<std::vector<Program>> compile_possible(const Library& library,
                                                            const Available& available);

// Events that must be counted, in the order of first use. "time" is not among them: it is measured
// with every run.
std::vector<std::string> needs(std::span<const Program> programs);

// Groups are those of multiplexed counts with known windows; without any, no intervals are given.
std::vector<Evaluated> evaluate_all(std::span<const Program> programs, const CountSet& counts,
                                    std::span<const GroupEstimate> groups = {});

// Constants of all of them, each once.
std::vector<Constant> constants_of(std::span<const Evaluated> metrics);

// One value as people read it: "~ 1.23 GB/s ± 4 %", "n/a".
std::string value_text(const Evaluated& metric);
std::string value_text(const Value& value, const Unit& unit);

}  // namespace loft::metric
