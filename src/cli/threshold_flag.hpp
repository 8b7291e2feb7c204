// The value of --threshold: EVENT=COUNT:ACTION.
//
//   LOFT_TRY(const ThresholdText text, parse_threshold("instructions=10M:signal=USR2"));
//   text.event; text.threshold.count; text.threshold.action
#pragma once

#include <string>

#include "base/result.hpp"
#include "source/counting.hpp"

namespace loft::cli {

struct ThresholdText {
  std::string event;
  source::Threshold threshold;  // its event is still a name
};

// COUNT is a number from 1 on, or one with k, M, G or T behind it. ACTION is snapshot, stop, print,
// signal or signal=NAME.
[[nodiscard]] Result<ThresholdText> parse_threshold(const std::string& text);

// What is told when one is reached: "instructions came to 1,000,000 after 0.25 s, in thread ...".
[[nodiscard]] std::string reached_text(const std::string& event,
                                       const sample::ThresholdOutcome& outcome);

}  // namespace loft::cli
