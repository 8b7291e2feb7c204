#include "view/why_text.hpp"

#include <fmt/format.h>

namespace loft::view {

std::string verdict_text(const model::Why& why) {
  if (why.outcome == model::Outcome::not_seen) return {};
  const std::string words = words_of(why);
  if (!why.gain || *why.gain < model::kLeastGain) return words;
  const char* which = why.gain_is_of_both ? "both" : why.second ? "the first" : "it";
  return fmt::format("{} (without {} {:.1f} × faster)", words, which, *why.gain);
}

std::string why_text(const model::Why& why) {
  const std::string words = verdict_text(why);
  return words.empty() || why.evidence.empty() ? words : words + ": " + why.evidence;
}

}  // namespace loft::view
