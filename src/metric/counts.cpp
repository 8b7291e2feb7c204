#include "metric/counts.hpp"

#include <algorithm>

#include "event/meaning.hpp"

namespace loft::metric {
Quantity Quantity::of(const sample::Count& count, double scale) {
  if (!count.is_available()) return missing(count.why.empty() ? "not counted" : count.why);
  const bool exact = count.origin != sample::Origin::scaled && scale == 1;
  return {exact ? Number::of(count.raw) : Number::real(count.value() * scale), count.origin, {}};
}

sample::Origin weaker(sample::Origin a, sample::Origin b) { return std::max(a, b); }

void CountSet::add(const std::string& name, Quantity quantity) {
  const std::string plain = event::plain_name(name);
  if (const auto same = plain_.find(plain); same != plain_.end()) {
    same->second = {
        {}, Quantity::missing("several counts answer to '" + plain + "'; name one of them")};
  } else {
    plain_.emplace(plain, Named{name, quantity});
  }
  exact_.insert_or_assign(name, std::move(quantity));
}

const Quantity* CountSet::find(std::string_view name) const {
  if (const auto exact = exact_.find(name); exact != exact_.end()) return &exact->second;
  const auto plain = plain_.find(event::plain_name(name));
  return plain == plain_.end() ? nullptr : &plain->second.quantity;
}

std::string CountSet::full_name(std::string_view name) const {
  if (exact_.contains(name)) return std::string(name);
  const auto plain = plain_.find(event::plain_name(name));
  return plain == plain_.end() ? std::string() : plain->second.name;
}

}  // namespace loft::metric
