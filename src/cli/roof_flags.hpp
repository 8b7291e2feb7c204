// What `loft roof` is asked for on the command line.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/job_flags.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "cli/source_flag.hpp"
#include "roof/report.hpp"

namespace loft::cli {

struct RoofFlags {
  std::vector<std::string> recordings;  // what stands before "--"
  std::vector<std::string> command;     // what stands after it
  std::vector<pid_t> pids;
  std::string runs = "1";
  std::string machine;
  std::string other_machine;
  SourceFlag source;
  std::string model = "cache";
  std::string ops = "auto";
  MetricFlags metrics;
  std::vector<std::string> functions;
  std::vector<std::string> calls;  // patterns of functions
  std::size_t top = 8;
  bool keep_going = false;
  bool by_thread = false;
  bool once = false;
  bool loops = false;
  bool what_if = false;
  std::string pass;  // in a job: "time" or "counts"
  JobFlags job;
  OutputFlags output;
};

void add_roof_flags(Command& command, RoofFlags& flags);

// Whatever is wrong with the flags is said before anything runs.
[[nodiscard]] Result<void> check(const RoofFlags& flags);
[[nodiscard]] Failure roof_usage(std::string why, std::string hint);

// A rank cannot be run twice while the others wait for it.
[[nodiscard]] bool is_rank(const RoofFlags& flags);
[[nodiscard]] roof::Wanted wanted_of(const RoofFlags& flags);
[[nodiscard]] roof::Target target_of(const RoofFlags& flags);

}  // namespace loft::cli
