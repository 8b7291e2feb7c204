// What `loft doctor` found, for people and for scripts.
#pragma once

#include <span>
#include <string>

#include "base/check.hpp"

namespace loft::view {

std::string checks_text(std::span<const Check> checks, bool colour);

// One line per check, with a header.
std::string checks_csv(std::span<const Check> checks);

// One object, schema "loft.doctor/1".
std::string checks_json(std::span<const Check> checks);

}  // namespace loft::view
