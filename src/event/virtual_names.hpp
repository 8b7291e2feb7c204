// The events of the virtual PMU by name. Who counts them also names them; the resolver is handed
// that table, since event/ does not know the engine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loft::event {

inline constexpr std::string_view kVirtualPrefix = "virtual::";

struct VirtualName {
  std::string name;  // without the prefix
  std::string unit;  // "B" for bytes; empty for plain counts
  std::string description;
};

// Gives the table when it is first needed. `virtual::flops` resolves to pmu "virtual" with the
// index in this table as its config.
using VirtualNames = const std::vector<VirtualName>& (*)();

}  // namespace loft::event
