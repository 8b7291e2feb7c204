// From the kernel's readings at many places to counts per event, task and CPU.
#pragma once

#include <span>

#include "event/event.hpp"
#include "sample/count.hpp"
#include "source/perf_events/group.hpp"

namespace loft::source::perf_events {

sample::Count count_of(const RawReading& reading);

// One task watched by one event per CPU. Each of these is enabled wherever the task runs but counts
// on its own CPU alone, so running times add up while each enabled time is already the whole.
sample::Count count_over_cpus(std::span<const RawReading> readings, const event::Event& event);

// The part of a task's `total` that one CPU counted: it shares the total's origin and scale.
sample::Count part_of(const sample::Count& total, std::uint64_t value);

RawReading operator+(const RawReading& a, const RawReading& b);
// What is left of `a` without `b`; never below zero.
RawReading operator-(const RawReading& a, const RawReading& b);

}  // namespace loft::source::perf_events
