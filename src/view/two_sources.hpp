// The same events and metrics by hardware counters and by the virtual PMU, side by side with their
// ratio: how near the exact counts and the models come to a real machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metric/program.hpp"
#include "metric/unit.hpp"

namespace loft::view {

struct TwoSources {
  struct Row {
    std::string name;
    metric::Unit unit;
    metric::Value native;       // by hardware counters
    metric::Value virtual_pmu;  // exact, or by models
    // Of the second to the first; nothing where one of them is missing or the first is 0.
    [[nodiscard]] std::optional<double> ratio() const;
  };
  std::vector<std::string> command;
  int exit_status = 0;
  double native_seconds = 0;  // 0: it did not run natively
  std::vector<Row> rows;
  std::vector<std::string> notes;
};

[[nodiscard]] std::string two_sources_text(const TwoSources& both);
[[nodiscard]] std::string two_sources_json(const TwoSources& both);
[[nodiscard]] std::string two_sources_csv(const TwoSources& both);

}  // namespace loft::view
