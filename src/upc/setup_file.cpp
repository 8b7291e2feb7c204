#include "upc/setup_file.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace loft::upc {
namespace {

constexpr std::array<std::string_view, 4> kModes = {"rising", "falling", "high", "low"};
constexpr std::size_t kLongestName = 64;

struct Size {
  std::string_view name;
  unsigned Geometry::*member;
};
constexpr Size kSizes[] = {
    {"counters", &Geometry::counters}, {"inputs", &Geometry::inputs},
    {"low-bits", &Geometry::low_bits}, {"high-bits", &Geometry::high_bits},
    {"group", &Geometry::group},       {"cycles-per-word", &Geometry::cycles_per_word},
};

class Parser {
 public:
  explicit Parser(std::string_view path) : path_(path) {}

  Result<Setup> parse(std::string_view text) {
    const auto lines = word_lines(text);
    for (const WordLine& line : lines) LOFT_CHECK(read_size(line));
    if (auto checked = check(setup_.sizes); !checked) {
      checked.error().what = fmt::format("use {}", printable(path_));
      return tl::make_unexpected(std::move(checked).error());
    }
    for (const WordLine& line : lines)
      if (line.words[0] == "select") LOFT_CHECK(read_event(line));
    if (setup_.events.empty())
      return failure(ErrorKind::invalid_input, fmt::format("use {}", printable(path_)),
                     "it selects no event", "add a line such as 'select 0 rising as misses'");
    return std::move(setup_);
  }

 private:
  Failure wrong(const WordLine& line, std::string why, std::string hint = {}) const {
    return failure(ErrorKind::invalid_input,
                   fmt::format("use {}:{}", printable(path_), line.number), std::move(why),
                   std::move(hint));
  }

  Result<void> read_size(const WordLine& line) {
    if (line.words[0] == "select") return {};
    for (const Size& size : kSizes) {
      if (line.words[0] != size.name) continue;
      const auto number = line.words.size() == 2 ? parse_u64(line.words[1]) : std::nullopt;
      if (!number || *number > ~0u)
        return wrong(line, fmt::format("'{}' takes one number", size.name));
      setup_.sizes.*size.member = static_cast<unsigned>(*number);
      return {};
    }
    return wrong(line, fmt::format("'{}' is not known", shown_word(line.words[0])),
                 "lines begin with select, counters, inputs, low-bits, high-bits, cycles-per-word "
                 "or group");
  }

  Result<void> read_event(const WordLine& line) {
    const auto& words = line.words;
    const auto number = words.size() > 1 ? parse_u64(words[1]) : std::nullopt;
    if (!number || *number >= setup_.sizes.events())
      return wrong(line,
                   fmt::format("'select' takes an event from 0 to {}", setup_.sizes.events() - 1));
    SelectedEvent event;
    event.event = static_cast<unsigned>(*number);
    event.name = fmt::format("event{}", event.event);
    for (std::size_t at = 2; at < words.size(); ++at) {
      if (const auto mode = std::find(kModes.begin(), kModes.end(), words[at]);
          mode != kModes.end()) {
        event.mode = static_cast<Mode>(mode - kModes.begin());
      } else if (words[at] == "as" && at + 1 < words.size()) {
        event.name = words[++at];
      } else if (words[at] == "threshold" && at + 1 < words.size()) {
        event.threshold = parse_u64(words[++at]).value_or(0);
        if (event.threshold == 0)
          return wrong(line, fmt::format("'{}' is no threshold", shown_word(words[at])),
                       "give a count of 1 or more");
      } else {
        return wrong(line, fmt::format("'{}' is not understood", shown_word(words[at])),
                     "select EVENT [rising|falling|high|low] [as NAME] [threshold COUNT]");
      }
    }
    return add(line, std::move(event));
  }

  Result<void> add(const WordLine& line, SelectedEvent event) {
    if (event.name.size() > kLongestName || printable(event.name) != event.name ||
        !is_letter(event.name[0]))
      return wrong(line, fmt::format("'{}' is no name", shown_word(event.name)),
                   fmt::format("begin with a letter, and use at most {} characters", kLongestName));
    if (event.name == "all") return wrong(line, "'all' means all lines in a stimulus");
    if (setup_.find(event.name) != nullptr)
      return wrong(line, fmt::format("'{}' is there already", event.name));
    const unsigned counter = setup_.sizes.counter_of(event.event);
    for (const SelectedEvent& other : setup_.events)
      if (setup_.sizes.counter_of(other.event) == counter)
        return wrong(line, fmt::format("counter {} counts event {} already", counter, other.event),
                     fmt::format("events that differ by a multiple of {} share a counter",
                                 setup_.sizes.counters));
    setup_.events.push_back(std::move(event));
    return {};
  }

  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  std::string_view path_;
  Setup setup_;
};

}  // namespace

const SelectedEvent* Setup::find(std::string_view name) const {
  for (const SelectedEvent& event : events)
    if (event.name == name) return &event;
  return nullptr;
}

Result<Setup> parse_setup(std::string_view text, std::string_view path) {
  return Parser(path).parse(text);
}

std::string_view mode_name(Mode mode) { return kModes[static_cast<std::size_t>(mode)]; }

std::string shown_word(std::string_view word) {
  constexpr std::size_t kLongestShown = 40;
  return word.size() <= kLongestShown ? printable(word)
                                      : printable(word.substr(0, kLongestShown)) + "...";
}

std::vector<WordLine> word_lines(std::string_view text) {
  std::vector<WordLine> lines;
  unsigned number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = line.substr(0, line.find('#'));
    WordLine words{number, {}};
    while (!(line = trim(line)).empty()) {
      const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
      words.words.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    if (!words.words.empty()) lines.push_back(std::move(words));
  }
  return lines;
}

}  // namespace loft::upc
