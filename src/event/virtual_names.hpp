// The events of the virtual PMU by name. Who counts them also names them; the resolver is handed
// that table, since event/ does not know the engine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loft::event {

inline constexpr std::string_view kVirtualPrefix = "virtual::";

// How the virtual PMU gets at an event.
enum class VirtualKind {
  exact,     // every occurrence is counted
  modelled,  // computed by a model of caches or predictors
};

struct VirtualName {
  std::string name;  // without the prefix
  std::string unit;  // "B" for bytes; empty for plain counts
  std::string description;
  std::uint64_t index = 0;  // the number that its source knows it by: config of its encoding
  VirtualKind kind = VirtualKind::exact;
};

// Gives the table when it is first needed. It lists what can be counted, and nothing else.
using VirtualNames = const std::vector<VirtualName>& (*)();

}  // namespace loft::event
