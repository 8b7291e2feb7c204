// What became of the budgets of `loft check`: for people, for scripts, and for CI servers.
#pragma once

#include <span>
#include <string>

#include "metric/budget.hpp"

namespace loft::view {

struct CheckedBudgets {
  std::string program;  // as it was called
  double seconds = 0;   // how long the check took
  std::vector<metric::Verdict> verdicts;
};

// One line for each budget.
std::string budgets_text(const CheckedBudgets& checked);
// Schema loft.check/1.
std::string budgets_json(const CheckedBudgets& checked);
// JUnit's XML: one test case for each budget; one that is unknown is an error.
std::string budgets_junit(const CheckedBudgets& checked);

}  // namespace loft::view
