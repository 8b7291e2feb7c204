// The names that every Linux kernel understands: hardware, cache and software events of
// perf_events.
//
// A name here says nothing about whether the machine can count it: that shows when it is opened.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.hpp"

namespace loft::event {

struct KernelEvent {
  std::string name;                  // the first of its names
  std::vector<std::string> aliases;  // further names for the same
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::string description;
  std::string unit;

  // Counted by a core PMU, as against software.
  [[nodiscard]] bool is_hardware() const { return type != kTypeSoftware; }
};

// The event of this name, of an alias, or of a spelling of a cache event ("l1d-read-miss").
std::optional<KernelEvent> find_kernel_event(std::string_view name);

// All of them, in the order in which a person wants to see them.
std::vector<KernelEvent> all_kernel_events();

}  // namespace loft::event
