#include "view/why_text.hpp"

#include <fmt/format.h>

namespace loft::view {

std::string why_text(const model::Why& why) {
  if (why.outcome == model::Outcome::not_seen) return {};
  std::string text = words_of(why);
  if (why.gain && *why.gain >= model::kLeastGain)
    text += fmt::format(" (without {} {:.1f} × faster)",
                        why.gain_is_of_both ? "both"
                        : why.second        ? "the first"
                                            : "it",
                        *why.gain);
  return why.evidence.empty() ? text : text + ": " + why.evidence;
}

}  // namespace loft::view
