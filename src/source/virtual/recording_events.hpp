// The records of a recording by the virtual PMU that the scheduler's recordings do not have.
#pragma once

#include <linux/perf_event.h>

#include <string>
#include <vector>

#include "engine/layout.hpp"
#include "event/event.hpp"
#include "source/scheduler/recording_file.hpp"

namespace loft::source::virtual_pmu {

// "virtual::loads", whatever was written.
[[nodiscard]] std::string full_name(const event::Event& event);

// Event number `index` of the recording, as perf reads it: a software event that only has samples.
[[nodiscard]] scheduler::KernelEvent describe_event(const event::Event& event, std::size_t index);

// `count` of event number `index`, in the function that holds `address`.
[[nodiscard]] std::vector<std::byte> count_record(std::size_t index, scheduler::TaskId task,
                                                  scheduler::Moment at, std::uint64_t address,
                                                  std::uint64_t count);
[[nodiscard]] std::vector<std::byte> comm_record(scheduler::TaskId task, std::uint64_t time,
                                                 const std::string& name, bool is_exec);
[[nodiscard]] std::vector<std::byte> map_record(const engine::MappingEntry& mapping,
                                                std::uint64_t time);

}  // namespace loft::source::virtual_pmu
