// The view of loft report that is about regions which the program marked: --regions.
#pragma once

#include "cli/output.hpp"
#include "cli/report_flags.hpp"
#include "sample/counting.hpp"
#include "source/file/recording.hpp"

namespace loft::cli {

// Those of a recording; none where the program marked none. A damaged section is an error.
[[nodiscard]] Result<sample::RunCounts> regions_of(const source::Recording& recording);

// --tid chooses threads; with any other filter it is an error that says so.
[[nodiscard]] Result<int> show_regions(const ReportFlags& flags, const source::Recording& recording,
                                       const OutputFlags& output, Terminal& terminal);

}  // namespace loft::cli
