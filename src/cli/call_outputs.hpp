// The forms that calls can take, by the name after --format or the ending of the file, for `loft
// call` and `loft report --calls`.
#pragma once

#include "cli/output.hpp"
#include "sample/calls.hpp"
#include "view/calls.hpp"

namespace loft::cli {

struct ShownCalls {
  const sample::CallRun& run;
  view::CallViewOptions options;
};

[[nodiscard]] const std::vector<Output<ShownCalls>>& call_outputs();

// "functions", "slowest", "tree" or "list"; all tables for anything else.
[[nodiscard]] view::CallTables tables_named(const std::string& word);
[[nodiscard]] std::vector<std::string> table_names();

}  // namespace loft::cli
