// Parts of JSON that several views of verdicts share.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "model/verdict.hpp"

namespace loft::view {

[[nodiscard]] inline nlohmann::ordered_json or_null(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// The field "why" of a point: limit, gain, evidence, and the gain of each cause.
[[nodiscard]] nlohmann::ordered_json why_json(const model::Why& why);

}  // namespace loft::view
