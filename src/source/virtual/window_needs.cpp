#include "source/virtual/window_needs.hpp"

#include <algorithm>

namespace loft::source::virtual_pmu {
namespace {

// Of one window of the stream: so many instructions, or so many recorded windows that met a
// function whose calls are short.
constexpr std::uint64_t kEnoughInstructions = 6'000;
constexpr std::uint32_t kEnoughWindows = 8;
constexpr std::uint32_t kEnoughSeen = 2;
constexpr std::uint32_t kMostMissed = 6;
// A longer window is so much longer at most: 2^3.
constexpr std::uint32_t kMostDoublings = 3;
// A function runs just now if it has at least this share of the instructions.
constexpr double kLeastShare = 0.02;

}  // namespace

bool WindowNeeds::has_enough(const Function& function) {
  return function.instructions >= kEnoughInstructions || function.windows >= kEnoughWindows;
}

bool WindowNeeds::is_open(const Function& function) {
  return function.seen < kEnoughSeen && function.missed < kMostMissed;
}

void WindowNeeds::add_executed(std::span<const std::uint64_t> instructions, std::uint64_t all) {
  wanted_ = kNone;
  for (std::uint32_t i = 0; i < std::min(instructions.size(), functions_.size()); ++i) {
    const double least = kLeastShare * static_cast<double>(all);
    if (instructions[i] == 0 || static_cast<double>(instructions[i]) < least) continue;
    if (!is_open(functions_[i])) continue;
    // The one that was seen least comes first; of these the one that runs most.
    if (wanted_ == kNone || functions_[i].seen < functions_[wanted_].seen ||
        (functions_[i].seen == functions_[wanted_].seen && instructions[i] > instructions[wanted_]))
      wanted_ = i;
  }
}

std::uint64_t WindowNeeds::bytes(std::uint64_t planned) const {
  if (wanted_ == kNone) return planned;
  return planned << std::min(functions_[wanted_].missed, kMostDoublings);
}

void WindowNeeds::start_window() {
  open_for_ = wanted_;
  wanted_ = kNone;
}

bool WindowNeeds::lacks(std::uint32_t function) const {
  return function < functions_.size() && functions_[function].seen < kEnoughSeen &&
         !has_enough(functions_[function]);
}

void WindowNeeds::add_recorded(std::uint32_t function, std::uint64_t instructions) {
  if (function >= functions_.size() || instructions == 0) return;
  functions_[function].instructions += instructions;
  ++functions_[function].windows;
}

void WindowNeeds::end_window() {
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    Function& function = functions_[i];
    if (has_enough(function))
      ++function.seen;
    else if (i == open_for_)
      ++function.missed;
    function.instructions = 0;
    function.windows = 0;
  }
  open_for_ = kNone;
}

}  // namespace loft::source::virtual_pmu
