// The named numbers of a core's sample: rates of its events, then its metrics.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sample/count.hpp"
#include "top/frame.hpp"

namespace loft::top {

struct NamedValue {
  std::string_view name;
  std::optional<double> value;  // in `unit`; nothing where it is not known
  std::string unit;             // "1/s", "ns/s", "instr/cycle"
  sample::Origin kind = sample::Origin::missing;
  std::string_view why;                  // only when missing
  const sample::Count* count = nullptr;  // of an event: what was counted
};

// They refer to the sample.
[[nodiscard]] std::vector<NamedValue> values_of(const CoreSample& sample);

// "1.23 G", "45.6 %", "~ 2.10": short, for columns. "n/a" where it is not known.
[[nodiscard]] std::string short_text(const NamedValue& value);

}  // namespace loft::top
