#include "source/file/time_range.hpp"

#include <cmath>

#include "base/text.hpp"

namespace loft::source {
namespace {

struct Moment {
  double value = 0;
  bool is_percent = false;
};

std::optional<Moment> parse_moment(std::string_view text) {
  Moment moment;
  if (text.ends_with('%')) {
    moment.is_percent = true;
    text.remove_suffix(1);
  }
  const auto value = parse_double(text);
  if (!value || !std::isfinite(*value) || *value < 0 || *value > 9e9) return std::nullopt;
  moment.value = *value;
  return moment;
}

Failure bad_range(std::string_view text, std::string why) {
  return failure(ErrorKind::invalid_input, "show the time '" + std::string(text) + "'",
                 std::move(why), "write --time 0.5,2 (seconds) or --time 10%,20%");
}

}  // namespace

Result<TimeRange> parse_time_range(std::string_view text,
                                   const std::optional<TimeRange>& recording) {
  if (!recording) return bad_range(text, "the recording has no times");
  const auto parts = split(text, ',');
  if (parts.size() != 2) return bad_range(text, "it is not two moments with a comma between them");
  const auto [first, last] = *recording;
  const double length = static_cast<double>(last - first);
  TimeRange range{0, ~std::uint64_t{0}};
  bool is_absolute = false;
  for (const bool is_start : {true, false}) {
    const auto part = trim(parts[is_start ? 0 : 1]);
    if (part.empty()) continue;
    const auto moment = parse_moment(part);
    if (!moment) return bad_range(text, "'" + std::string(part) + "' is no moment");
    const double ns = moment->is_percent ? length * moment->value / 100 : moment->value * 1e9;
    if (!moment->is_percent && (is_start || parts[0].empty()))
      is_absolute = ns > length && ns >= static_cast<double>(first);
    const auto whole = static_cast<std::uint64_t>(std::llround(ns));
    (is_start ? range.first : range.second) =
        is_absolute && !moment->is_percent ? whole : first + whole;
  }
  if (range.first > range.second) return bad_range(text, "it ends before it starts");
  return range;
}

}  // namespace loft::source
