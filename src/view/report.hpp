// A report of a recording in its tabular forms.
#pragma once

#include <string>

#include "sample/report.hpp"
#include "view/stacks.hpp"

namespace loft::view {

struct TableOptions {
  int columns = 0;  // of the screen; 0: lines may be as long as they are
};

// "1 sample", "1,234 samples".
std::string samples_text(std::uint64_t samples);

// How much of an event filters let through, behind its totals; nothing where that is all.
std::string shown_share_text(const sample::ReportEvent& event);

// By what the energy of a meter was shared among functions, where it was.
std::string shared_text(const sample::ReportEvent& event);

// What was recorded, on what, how long, and what is missing from it.
std::string recording_text(const sample::Report& report);

// The table for people, per event.
std::string report_text(const sample::Report& report, const TableOptions& options);

// One object, schema "loft.report/1"; with a tree, where one is given.
std::string report_json(const sample::Report& report);
std::string report_json(const sample::Report& report, const ShownTree& tree);

// One line per row, with a header.
std::string report_csv(const sample::Report& report);

}  // namespace loft::view
