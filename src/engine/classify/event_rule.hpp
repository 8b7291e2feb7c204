// What an event counts, as plain data: it may stand in the memory that loft shares with the engine.
//
//   const EventRule& rule = event_table()[event];
//   if (rule.meets(kind)) sum += kind.fixed[rule.measure];
#pragma once

#include <array>
#include <cstdint>

#include "engine/classify/kind.hpp"

namespace loft::engine {

// `low` <= the attribute <= `high`.
struct Condition {
  Attribute attribute = Attribute::insn_class;
  std::uint16_t low = 0;
  std::uint16_t high = 0xFFFF;
};

// A measure of the instructions that meet all conditions.
struct EventRule {
  Measure measure = Measure::instructions;
  std::uint8_t condition_count = 0;
  std::array<Condition, 4> conditions{};

  [[nodiscard]] bool meets(const Kind& kind) const {
    for (std::uint8_t i = 0; i < condition_count && i < conditions.size(); ++i) {
      const std::uint16_t value = kind.get(conditions[i].attribute);
      if (value < conditions[i].low || value > conditions[i].high) return false;
    }
    return true;
  }
};

}  // namespace loft::engine
