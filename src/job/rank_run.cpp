#include "job/rank_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/cpu_set.hpp"
#include "base/text.hpp"
#include "job/folder.hpp"
#include "job/rank_file.hpp"

namespace loft::job {

Result<bool> is_full(const JobWish& wish, const Rank& rank) {
  if (wish.full.empty() || wish.full == "all") return wish.full == "all";
  const auto ranks = parse_cpu_list(wish.full);  // lists of ranks are written as those of CPUs
  if (!ranks)
    return failure(ErrorKind::invalid_input, "--full " + wish.full, "it is no list of ranks",
                   "write it like 0,17 or 0-3, or all");
  return std::ranges::find(*ranks, static_cast<int>(rank.number)) != ranks->end();
}

Result<RankRun> RankRun::begin(const JobWish& wish, const std::vector<std::string>& command) {
  RankRun run;
  RankSummary& summary = run.summary_;
  summary.rank = own_rank().value_or(only_rank());
  LOFT_TRY(run.is_full_, job::is_full(wish, summary.rank));
  summary.command = join(command, " ");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  summary.start_ns =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  LOFT_TRY(run.path_, claim_file(wish.folder, summary.rank));
  if (!run.is_full_) LOFT_CHECK(write_rank_file(run.path_, summary));
  run.mpi_ = MpiTimes::start();
  return run;
}

Result<void> RankRun::finish() {
  summary_.state = State::ended;
  summary_.mpi = mpi();
  return write_rank_file(path_, summary_);
}

void RankRun::discard() const { ::unlink(path_.c_str()); }

}  // namespace loft::job
