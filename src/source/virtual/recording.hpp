// Records a program under the virtual PMU: slices of every thread, with exact counts per function,
// as a perf.data.
//
//   LOFT_TRY(const auto result, virtual_pmu::record(request));
//
// The program is looked at once per slice, of wall-clock time, from outside. A slice is a sample of
// task-clock with the thread's run time; what the thread did in it is one sample for each event and
// function, at an address of the function, with the count as its period. So the samples of an event
// add up to what was counted, per thread and per function, for loft and for perf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/result.hpp"
#include "sample/counting.hpp"
#include "source/scheduler/record.hpp"

namespace loft::source::virtual_pmu {

// Told at the end what every basic block counted (events and blocks alone), it gives further
// sections of the file.
using Sections = std::map<std::uint32_t, std::vector<std::byte>>;
using SectionsOfBlocks = std::function<Sections(const sample::RunCounts&)>;

// Of the request: command, events of the virtual PMU, slice, and what is about the file.
[[nodiscard]] Result<scheduler::RecordResult> record(const scheduler::RecordRequest& request,
                                                     const SectionsOfBlocks& sections = {});

}  // namespace loft::source::virtual_pmu
