// The view of loft report that is about calls: --calls.
#pragma once

#include "cli/output.hpp"
#include "cli/report_flags.hpp"
#include "source/file/recording.hpp"

namespace loft::cli {

// Of a recording by `loft call` or `loft record --calls`; any other is an error that says so.
[[nodiscard]] Result<int> show_calls(const ReportFlags& flags, const source::Recording& recording,
                                     const OutputFlags& output, Terminal& terminal);

}  // namespace loft::cli
