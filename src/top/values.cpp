#include "top/values.hpp"

#include <fmt/format.h>

#include <cmath>

namespace loft::top {
namespace {

NamedValue event_value(const CoreSample& sample, std::size_t i) {
  const sample::CountedEvent& event = sample.set->frame.events[i];
  NamedValue value{event.name, std::nullopt, (event.unit.empty() ? "1" : event.unit) + "/s"};
  if (!sample.is_read()) {
    value.why = sample.set->why_missing[i].empty() ? sample.why : sample.set->why_missing[i];
    return value;
  }
  const sample::Count& count = sample.counts[i];
  value.count = &count;
  value.kind = count.origin;
  value.why = count.why;
  if (count.is_available() && sample.seconds() > 0) value.value = sample.rate(i);
  return value;
}

NamedValue metric_value(const CoreSample& sample, std::size_t m) {
  const metric::Program& program = sample.set->request.programs[m];
  NamedValue value{program.name(), std::nullopt, program.unit().text};
  if (!sample.is_read()) {
    value.why = sample.why;
    return value;
  }
  const metric::Value& found = sample.metrics[m];
  value.kind = found.kind;
  value.why = found.why;
  if (found.number) value.value = program.in_unit(found.number->as_double());
  return value;
}

}  // namespace

std::vector<NamedValue> values_of(const CoreSample& sample) {
  std::vector<NamedValue> values;
  if (!sample.set) return values;
  for (std::size_t i = 0; i < sample.set->frame.events.size(); ++i)
    values.push_back(event_value(sample, i));
  for (std::size_t m = 0; m < sample.set->request.programs.size(); ++m)
    values.push_back(metric_value(sample, m));
  return values;
}

std::string short_text(const NamedValue& value) {
  if (!value.value) return "n/a";
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  double number = *value.value;
  std::size_t prefix = 0;
  while (std::fabs(number) >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    number /= 1000;
    ++prefix;
  }
  const int digits = std::fabs(number) >= 99.95 ? 0 : std::fabs(number) >= 9.995 ? 1 : 2;
  const bool is_plain_zero = number == 0;
  return fmt::format("{}{:.{}f}{}{}", value.kind == sample::Origin::counted ? "" : "~", number,
                     is_plain_zero ? 0 : digits, kPrefixes[prefix], value.unit == "%" ? "%" : "");
}

}  // namespace loft::top
