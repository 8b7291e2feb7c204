// The tables of a recording's page.
#pragma once

#include "sample/named_profile.hpp"
#include "view/page.hpp"

namespace loft::view {

// The rows of the report: one line per function (or whatever rows are), columns for each event,
// which the page shows one at a time.
PageTable function_table(const sample::Report& report);

// What each thread did, from the profile's timeline.
PageTable thread_table(const sample::NamedProfile& profile);

}  // namespace loft::view
