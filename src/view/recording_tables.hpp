// readperf's tables of a recording: records per type, processes, functions. Its fourth, of every
// record, is view::RecordTable.
#pragma once

#include <string>

#include "sample/report.hpp"

namespace loft::view {

// stat.csv: type, records.
std::string stat_table(const sample::RecordingSummary& summary);

// processes.csv: pid, name, mmaps, fork and exit time, samples, period, event. One row for each
// process and event of which it has samples; a process without samples has one row, without event.
std::string processes_table(const sample::TaskHistory& history, const sample::ProfileResult& result,
                            const std::vector<sample::ReportEvent>& events);

// results.csv: period, samples, function, source file; then the binary and the event.
std::string results_table(const sample::Report& report);

}  // namespace loft::view
