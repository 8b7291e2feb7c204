// What `loft roof` shows: a run under the roofs, as text, JSON or CSV. The drawing is
// view/roofline_svg.hpp.
#pragma once

#include <string>
#include <vector>

#include "model/roof_points.hpp"

namespace loft::view {

struct RoofReport {
  std::vector<std::string> command;
  int exit_status = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;
  std::size_t threads = 0;
  std::string counts_from;  // "virtual PMU, exact"
  std::string time_from;    // "native run"
  std::string machine_identity;
  std::vector<std::string> notes;  // what a reader of the numbers must know
  model::RoofChart chart;
};

std::string roof_text(const RoofReport& report);
std::string roof_json(const RoofReport& report);
std::string roof_csv(const RoofReport& report);

}  // namespace loft::view
