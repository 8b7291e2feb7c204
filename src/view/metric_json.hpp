// Inside view/: metrics as parts of larger JSON objects.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "metric/evaluation.hpp"

namespace loft::view {

// {"name","value","unit","kind","why"?,"ci95"?,"unreliable"?,"variant"?,"description"?}
nlohmann::ordered_json metric_object(const metric::Evaluated& metric);

// With two spaces for each level, and a mark in place of bytes that are no UTF-8.
std::string dumped(const nlohmann::ordered_json& json);

// [{"name","value","unit","origin"}]
nlohmann::ordered_json constants_array(std::span<const metric::Evaluated> metrics);

}  // namespace loft::view
