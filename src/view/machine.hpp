// A machine as people and programs read it.
#pragma once

#include <string>

#include "model/machine_model.hpp"

namespace loft::view {

// Tables of what it is, its roofs and its latencies. Roofs of the widest instructions, or `all`.
std::string machine_text(const model::Machine& machine, bool all = false);

// One line per roof and constant, with a header.
std::string machine_csv(const model::Machine& machine);

// Each value of both, and the second as a multiple of the first. What one of them lacks says so.
std::string comparison_text(const model::Machine& first, const model::Machine& second);

// One object, schema "loft.machine-compare/1".
std::string comparison_json(const model::Machine& first, const model::Machine& second);

}  // namespace loft::view
