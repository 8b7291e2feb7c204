// The parts of `loft stat`'s text that tell functions and blocks apart, and how a count is written.
#pragma once

#include <string>

#include "sample/code_details.hpp"
#include "sample/counting.hpp"

namespace loft::view {

// A count of an event in the unit that people read: nanoseconds as milliseconds, plain counts and
// bytes in full, "not counted" for what is missing.
std::string count_text(const sample::Count& count, const sample::CountedEvent& event);

// Both are empty where the run was not divided so. The rows with most of the first event are shown,
// and the others as one line, so that each column still sums up to its total.
std::string function_table(const sample::RunCounts& run);
std::string block_table(const sample::RunCounts& run);
std::string line_table(const sample::RunCounts& run, const std::vector<sample::LineCounts>& lines);
// All regions, each with what is inside of it.
std::string region_table(const sample::RunCounts& run);

}  // namespace loft::view
