// The view of loft report that is about calls: --calls.
#pragma once

#include <optional>

#include "cli/output.hpp"
#include "cli/report_flags.hpp"
#include "sample/calls.hpp"
#include "source/file/recording.hpp"

namespace loft::cli {

// Of a recording by `loft call` or `loft record --calls`; any other is an error that says so.
[[nodiscard]] Result<int> show_calls(const ReportFlags& flags, const source::Recording& recording,
                                     const OutputFlags& output, Terminal& terminal);

// Calls beside the samples and slices of a recording, chosen by the filters that are about calls,
// too. Nothing where there are none, or where a filter cannot choose them.
[[nodiscard]] Result<std::optional<sample::CallRun>> calls_beside(
    const ReportFlags& flags, const source::Recording& recording);

}  // namespace loft::cli
