// The page of `loft top --listen`, as web/ builds it: it draws the samples that its server sends.
#pragma once

#include <string>
#include <string_view>

#include "model/roofline.hpp"

namespace loft::top {

[[nodiscard]] std::string_view live_page();

// The roofs that the page asks for, as JSON; `why` there are none, where there are none.
[[nodiscard]] std::string roofline_json(const model::Roofline* roofline, std::string_view why);

}  // namespace loft::top
