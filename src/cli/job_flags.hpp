// --job and --full, for commands that measure a rank of a parallel job; and what they say about
// programs that start ranks.
#pragma once

#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "cli/terminal.hpp"
#include "job/rank_run.hpp"

namespace loft::cli {

struct JobFlags {
  job::JobWish wish;

  [[nodiscard]] bool is_given() const { return !wish.folder.empty(); }
};

void add_job_flag(Command& command, JobFlags& flags);
void add_full_flag(Command& command, JobFlags& flags);

// A rank without --job writes to a file of its own: "perf.data" becomes "perf.3.data".
[[nodiscard]] std::string own_output(const std::string& path);

// "the ranks of srun are not seen; ..." with the command that sees them; empty where the command
// starts no ranks, or `sees_children` and they are its children.
[[nodiscard]] std::string launcher_warning(const std::vector<std::string>& command,
                                           const std::string& loft_command, bool sees_children);

// Runs and writes: `measure` fills the summary of the rank. Gives the status of the program.
[[nodiscard]] Result<int> run_as_rank(
    const JobFlags& flags, const std::vector<std::string>& command, Terminal& terminal,
    const std::function<Result<void>(job::RankSummary&)>& measure);

}  // namespace loft::cli
