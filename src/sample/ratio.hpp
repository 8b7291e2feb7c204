// What a person reads beside a count: instructions per cycle, CPUs kept busy, misses in percent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sample/counting.hpp"

namespace loft::sample {

struct Ratio {
  std::string name;  // "IPC"
  double value = 0;
  std::string unit;                 // "instructions/cycle", "%", "1/s"
  Origin origin = Origin::counted;  // the weaker of the two counts it rests on
};

// The ratio that belongs to event `index`; nothing when an operand was not counted or is 0.
std::optional<Ratio> ratio_of(const RunCounts& run, std::size_t index);

}  // namespace loft::sample
