// The events of the virtual PMU by name. `virtual::flops` resolves to pmu "virtual" with the index
// in this table as its config; who counts them finds the name by that index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace loft::event {

inline constexpr std::string_view kVirtualPrefix = "virtual::";

struct VirtualName {
  std::string_view name;  // without the prefix
  std::string_view unit;  // "B" for bytes; empty for plain counts
  bool modelled;          // from a model of caches and predictors, not counted
  std::string_view description;
};

std::span<const VirtualName> virtual_names();

// The index of `name`, which has no prefix.
std::optional<std::uint64_t> find_virtual_name(std::string_view name);

}  // namespace loft::event
