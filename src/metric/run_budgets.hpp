// Budgets held against a counting run.
//
//   const auto names = names_to_count(budgets);                    // for read_request
//   const auto verdicts = hold_all(budgets, request, run, evaluate_run(request, run), &base);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "metric/budget.hpp"
#include "metric/run_counts.hpp"

namespace loft::metric {

// The wall-clock time of the run can be budgeted by this name; nothing has to be counted for it.
inline constexpr std::string_view kTimeName = "time";

// The names to count for these budgets, each once.
std::vector<std::string> names_to_count(std::span<const Budget> budgets);

// Whether one of them needs the time that the program takes by itself.
bool needs_time(std::span<const Budget> budgets, const Request& request);

// `request` is made of these budgets' names, and `run` counted it. `base` may be null where no
// budget needs one.
std::vector<Verdict> hold_all(std::span<const Budget> budgets, const Request& request,
                              const sample::RunCounts& run, const RunMetrics& metrics,
                              const CountSet* base);

}  // namespace loft::metric
