// What `loft roof` shows: one or several runs under the roofs, as text, JSON, CSV or drawing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/roof_points.hpp"
#include "sample/counting.hpp"
#include "view/page.hpp"

namespace loft::view {

// One run under the roofs.
struct RoofReport {
  std::string label;  // which of several runs; empty when there is one
  std::vector<std::string> command;
  int exit_status = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;
  std::size_t threads = 0;
  std::string counts_from;         // "virtual PMU, exact"
  bool time_is_estimated = false;  // else measured, in a native run
  std::string machine_identity;
  std::vector<sample::EnergyUsed> energy;  // of the whole machine, while the native run lasted
  std::vector<std::string> notes;          // what a reader of the numbers must know
  model::RoofChart chart;
  // For the page: where its time went, and when each thread ran.
  std::vector<PageFlame> flames;
  std::optional<PageSchedule> schedule;
  std::vector<PageThread> thread_names;

  [[nodiscard]] const char* time_from() const {
    return time_is_estimated ? "estimated" : "native run";
  }
};

std::string roof_text(std::span<const RoofReport> runs);
std::string roof_json(std::span<const RoofReport> runs);
std::string roof_csv(std::span<const RoofReport> runs);
// All runs in one drawing, under the highest of their roofs.
std::string roof_svg(std::span<const RoofReport> runs);
// All runs in the report page.
[[nodiscard]] Result<std::string> roof_html(std::span<const RoofReport> runs);

}  // namespace loft::view
