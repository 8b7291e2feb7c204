// One run of a rank into the folder of its job: the file is the rank's from the start, says that it
// runs, and gets what was measured at the end. A rank that is killed leaves a file that says so.
//
//   LOFT_TRY(RankRun run, RankRun::begin({.folder = "results"}, {"./app"}));
//   add_counts(counts, run.summary());
//   LOFT_CHECK(run.finish());
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "job/mpi_times.hpp"
#include "job/rank.hpp"
#include "job/summary.hpp"

namespace loft::job {

struct JobWish {
  std::string folder;  // empty: none
  std::string full;    // ranks to record in full: "0,17", "0-3", "all"; empty: none
};

// Whether the rank is among those to record in full.
[[nodiscard]] Result<bool> is_full(const JobWish& wish, const Rank& rank);

class RankRun {
 public:
  // The rank that this process is, or the only one.
  [[nodiscard]] static Result<RankRun> begin(const JobWish& wish,
                                             const std::vector<std::string>& command);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_full() const { return is_full_; }
  [[nodiscard]] RankSummary& summary() { return summary_; }

  // The time of the rank in MPI so far, where its calls are timed.
  [[nodiscard]] std::optional<MpiTime> mpi() const { return mpi_ ? mpi_->read() : std::nullopt; }

  // Writes the summary, in one step.
  [[nodiscard]] Result<void> finish();
  // Removes the file of a program that could not be started.
  void discard() const;

 private:
  std::string path_;
  bool is_full_ = false;
  RankSummary summary_;
  std::optional<MpiTimes> mpi_;
};

}  // namespace loft::job
