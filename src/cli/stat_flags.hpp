// The flags of loft stat, and which of them go together.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/job_flags.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "cli/source_flag.hpp"
#include "machine/geometry.hpp"

namespace loft::cli {

// Both sources, side by side (cli/stat_both.hpp).
inline constexpr std::string_view kBothSources = "counters,virtual";

struct StatFlags {
  SourceFlag source;
  std::vector<std::string> events;
  std::vector<pid_t> pids;
  std::vector<std::string> command;
  std::string cpus;
  double interval_ms = 0;
  std::string runs = "1";   // a number, or "auto"
  double target_error = 0;  // in percent; 0: not asked for
  bool per_thread = false;
  bool per_core = false;
  bool whole_machine = false;
  std::string region;
  std::vector<std::string> thresholds;
  std::string by;  // "function", "block", "line" or "region"
  bool sharing = false;
  std::string model;  // of modelled events: "full", or sampled
  machine::GeometryTexts machine;
  MetricFlags metrics;
  OutputFlags output;
  JobFlags job;
};

[[nodiscard]] inline bool runs_by_need(const StatFlags& flags) { return flags.runs == "auto"; }
[[nodiscard]] inline unsigned repeats(const StatFlags& flags) {
  return runs_by_need(flags) ? 1 : static_cast<unsigned>(parse_u64(flags.runs).value_or(1));
}

[[nodiscard]] Failure stat_usage(std::string why, std::string hint);
// Whatever contradicts itself, before anything runs.
[[nodiscard]] Result<void> check(const StatFlags& flags);
// All but those that commands have in common.
void add_stat_flags(Command& command, StatFlags& flags);

}  // namespace loft::cli
