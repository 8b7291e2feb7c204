#include "top/live_page.hpp"

#include <nlohmann/json.hpp>

#include "base/embedded_file.hpp"

LOFT_EMBEDDED_FILE(loft_live_page, LOFT_LIVE_PAGE)

namespace loft::top {

using nlohmann::ordered_json;

std::string_view live_page() { return LOFT_EMBEDDED_TEXT(loft_live_page); }

std::string roofline_json(const model::Roofline* roofline, std::string_view why) {
  ordered_json json;
  if (roofline == nullptr) {
    json["why"] = why;
  } else {
    json = {{"machine", roofline->machine},
            {"precision", roofline->precision},
            {"unit", "FLOP"},
            {"threads", roofline->threads},
            {"slopes", ordered_json::array()},
            {"ceilings", ordered_json::array()}};
    for (const model::Slope& slope : roofline->slopes)
      json["slopes"].push_back({{"level", slope.level},
                                {"name", slope.name},
                                {"bytes_per_second", slope.bytes_per_second},
                                {"verdict", to_string(slope.verdict)}});
    for (const model::Ceiling& ceiling : roofline->ceilings)
      json["ceilings"].push_back({{"name", ceiling.name},
                                  {"flops_per_second", ceiling.flops_per_second},
                                  {"verdict", to_string(ceiling.verdict)}});
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace loft::top
