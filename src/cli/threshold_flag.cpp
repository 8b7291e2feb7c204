#include "cli/threshold_flag.hpp"

#include <fmt/format.h>
#include <csignal>
#include <cstring>
#include <limits>

#include "base/text.hpp"
#include "base/units.hpp"

namespace loft::cli {
namespace {

using sample::ThresholdAction;

Failure wrong(const std::string& text, std::string why, std::string hint = {}) {
  if (hint.empty()) hint = "write it as in --threshold instructions=1000000:snapshot";
  return failure(ErrorKind::invalid_input, "use the threshold '" + text + "'", std::move(why),
                 std::move(hint));
}

Result<std::uint64_t> parse_count(const std::string& text, std::string_view count) {
  std::uint64_t factor = 1;
  constexpr std::string_view kPrefixes = "kMGT";
  if (!count.empty()) {
    const std::size_t prefix = kPrefixes.find(count.back());
    for (std::size_t i = 0; prefix != std::string_view::npos && i <= prefix; ++i) factor *= 1000;
    if (factor != 1) count.remove_suffix(1);
  }
  const auto number = parse_u64(count);
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() / factor)
    return wrong(text, fmt::format("'{}' is no count below 2^64", std::string(count)),
                 "give a whole number, such as 25000 or 10M");
  if (*number == 0) return wrong(text, "every count begins at 0", "give a count from 1 on");
  return *number * factor;
}

int signal_named(std::string_view name) {
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* known = ::sigabbrev_np(signal);
    if (known != nullptr && name == known) return signal;
  }
  return 0;
}

Result<void> parse_action(const std::string& text, std::string_view action,
                          source::Threshold& threshold) {
  constexpr std::string_view kSignal = "signal=";
  if (action.starts_with(kSignal)) {
    threshold.action = ThresholdAction::signal;
    threshold.signal = signal_named(action.substr(kSignal.size()));
    if (threshold.signal == 0)
      return wrong(text, fmt::format("there is no signal '{}'", action.substr(kSignal.size())),
                   "'kill -l' lists the names");
    return {};
  }
  for (const auto known : {ThresholdAction::snapshot, ThresholdAction::stop,
                           ThresholdAction::signal, ThresholdAction::print}) {
    if (action != sample::to_string(known)) continue;
    threshold.action = known;
    threshold.signal = known == ThresholdAction::signal ? SIGUSR1 : 0;
    return {};
  }
  return wrong(text, fmt::format("'{}' is nothing that can happen there", action),
               "use snapshot, stop, print, signal or signal=NAME");
}

}  // namespace

Result<ThresholdText> parse_threshold(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return wrong(text, "it is not EVENT=COUNT:ACTION");
  const std::size_t colon = text.find(':', equals);
  if (colon == std::string::npos) return wrong(text, "it does not say what is to happen");
  ThresholdText parsed;
  parsed.event = text.substr(0, equals);
  const auto whole = std::string_view(text);
  LOFT_TRY(parsed.threshold.count, parse_count(text, whole.substr(equals + 1, colon - equals - 1)));
  LOFT_CHECK(parse_action(text, whole.substr(colon + 1), parsed.threshold));
  return parsed;
}

std::string reached_text(const std::string& event, const sample::ThresholdOutcome& outcome) {
  return fmt::format("loft: {} came to {} after {}, at {} in thread {} ({})\n", printable(event),
                     with_separators(outcome.count), format_seconds(to_seconds(outcome.time)),
                     with_separators(outcome.value), outcome.tid, printable(outcome.comm));
}

}  // namespace loft::cli
