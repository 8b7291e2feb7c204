// A fitted power model, with how well it predicts what it was not fitted to.
#pragma once

#include <string>

#include "model/power.hpp"

namespace loft::view {

std::string power_fit_text(const model::PowerData& data, const model::PowerFit& fit);
// Schema "loft.power.fit/1".
std::string power_fit_json(const model::PowerData& data, const model::PowerFit& fit);

}  // namespace loft::view
