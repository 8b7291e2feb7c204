#include "metric/counts.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace loft::metric {
namespace {

bool is_modifiers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("ukhGHpPSDWIeb") == std::string_view::npos;
}

// "cpu/cycles/u" gives "cycles"; "cpu/event=0x3c/" has no name inside and stays.
std::string_view without_pmu(std::string_view name) {
  const auto open = name.find('/');
  const auto close = name.rfind('/');
  if (open == std::string_view::npos || open == close) return name;
  const std::string_view inside = name.substr(open + 1, close - open - 1);
  return inside.find('=') == std::string_view::npos && !inside.empty() ? inside : name;
}

}  // namespace

Quantity Quantity::of(const sample::Count& count, double scale) {
  if (!count.is_available()) return missing(count.why.empty() ? "not counted" : count.why);
  const bool exact = count.origin != sample::Origin::scaled && scale == 1;
  return {exact ? Number::of(count.raw) : Number::real(count.value() * scale), count.origin, {}};
}

std::string plain_event_name(std::string_view name) {
  name = without_pmu(trim(name));
  for (const std::string_view prefix : {"virtual::", "pfm:", "sysfs:"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const auto colon = name.rfind(':');
  if (colon != std::string_view::npos && is_modifiers(name.substr(colon + 1)))
    name = name.substr(0, colon);
  std::string plain = to_lower(name);
  std::ranges::replace_if(
      plain, [](char c) { return c == '.' || c == ':' || c == '-'; }, '_');
  return plain;
}

void CountSet::add(const std::string& name, Quantity quantity) {
  const std::string plain = plain_event_name(name);
  if (const auto same = plain_.find(plain); same != plain_.end()) {
    same->second = Quantity::missing("several counts answer to '" + plain + "'; name one of them");
  } else {
    plain_.emplace(plain, quantity);
  }
  exact_.insert_or_assign(name, std::move(quantity));
}

const Quantity* CountSet::find(std::string_view name) const {
  if (const auto exact = exact_.find(name); exact != exact_.end()) return &exact->second;
  const auto plain = plain_.find(plain_event_name(name));
  return plain == plain_.end() ? nullptr : &plain->second;
}

}  // namespace loft::metric
