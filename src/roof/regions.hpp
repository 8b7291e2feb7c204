// Regions that a program marks (include/loft/region.h) under the roofs: how long they took in the
// native run, by the program's own clock, and what was done in them, in a further run.
//
//   RegionWatch watch = RegionWatch::start(command);         // before the native run
//   ...
//   LOFT_TRY(auto regions, std::move(watch).finish(count, notes));   // after it
//   add_region_subjects(regions, wall_seconds, true, joined.subjects);
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/result.hpp"
#include "roof/counted_work.hpp"
#include "source/region_file.hpp"
#include "source/virtual/libraries.hpp"

namespace loft::roof {

// Both accounts of the same regions, over all threads and by thread. A region whose two runs differ
// in visits has no work, and a note says so.
[[nodiscard]] std::vector<RegionWork> join_regions(const sample::RunCounts& native,
                                                   const sample::RunCounts& counted,
                                                   std::vector<std::string>& notes);

// Programs that are started while it lives add up the times of their regions.
class RegionWatch {
 public:
  [[nodiscard]] static RegionWatch start(const std::vector<std::string>& command);

  // `count` runs the program again, for what it does in each region of each thread; it is not
  // called where the program marked none. Without it there are times alone.
  using Count = std::function<Result<sample::RunCounts>()>;
  [[nodiscard]] Result<std::vector<RegionWork>> finish(const Count& count,
                                                       std::vector<std::string>& notes) &&;

 private:
  RegionWatch(Result<source::RegionFile> file, source::virtual_pmu::Preload markers)
      : file_(std::move(file)), markers_(std::move(markers)) {}

  Result<source::RegionFile> file_;  // without memory for it, regions are not known
  source::virtual_pmu::Preload markers_;
};

// The program under the virtual PMU, for the counts of each region in each thread.
[[nodiscard]] Result<sample::RunCounts> run_regions(const std::vector<std::string>& command,
                                                    StandardStreams streams);

// Their times, and shares of `wall_seconds`, are those of the clock: what others had of the CPUs
// meanwhile is in them. With `has_work` false only times are known.
void add_region_subjects(const std::vector<RegionWork>& regions, double wall_seconds, bool has_work,
                         std::vector<model::Subject>& subjects);

}  // namespace loft::roof
