// The forms that a report can take, by the name after --format or the ending of the file: one row
// each. A new export is a row in report_outputs.cpp and a file in view/.
#pragma once

#include "cli/output.hpp"
#include "cli/report_flags.hpp"
#include "sample/calls.hpp"
#include "sample/counting.hpp"
#include "sample/named_profile.hpp"
#include "source/file/recording.hpp"

namespace loft::cli {

// What a form needs of the profile.
inline constexpr unsigned kNeedsRows = 1;      // the rows of its table, with their names
inline constexpr unsigned kNeedsTree = 2;      // call stacks
inline constexpr unsigned kNeedsTimeline = 4;  // the moment of each sample
inline constexpr unsigned kShowsAll = 8;       // each sample by itself

struct ShownReport {
  const ReportFlags& flags;
  const source::Recording& recording;
  const sample::ProfileFilter& filter;
  const sample::Report& report;
  const sample::NamedProfile& profile;
  const sample::RunCounts& regions;        // that the program marked; none where a part is shown
  int columns = 0;                         // of the screen; 0: not shortened
  const sample::CallRun* calls = nullptr;  // that were recorded beside samples and slices
};

[[nodiscard]] const std::vector<Output<ShownReport>>& report_outputs();

}  // namespace loft::cli
