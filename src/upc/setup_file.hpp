// A configuration of the counter unit as text:
//
//   # sizes that differ from Blue Gene/P's
//   counters 64
//   low-bits 10
//   # EVENT [rising|falling|high|low] [as NAME] [threshold COUNT]
//   select 7 rising as misses threshold 10000
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "upc/geometry.hpp"

namespace loft::upc {

struct SelectedEvent {
  unsigned event = 0;
  Mode mode = Mode::rising;
  std::string name;             // "event7" where none was given
  std::uint64_t threshold = 0;  // 0: none
};

struct Setup {
  Geometry sizes;
  std::vector<SelectedEvent> events;

  [[nodiscard]] const SelectedEvent* find(std::string_view name) const;
};

// `path` is for messages. Sizes, events and names are checked.
[[nodiscard]] Result<Setup> parse_setup(std::string_view text, std::string_view path);

[[nodiscard]] std::string_view mode_name(Mode mode);

// A word of a file for a message: harmless to terminals, and cut where it is long.
[[nodiscard]] std::string shown_word(std::string_view word);

// The words of each line that has any, without comments ("# …"), and where it was.
struct WordLine {
  unsigned number = 0;
  std::vector<std::string_view> words;
};
[[nodiscard]] std::vector<WordLine> word_lines(std::string_view text);

}  // namespace loft::upc
