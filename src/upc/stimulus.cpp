#include "upc/stimulus.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/text.hpp"

namespace loft::upc {
namespace {

using Kind = StimulusStep::Kind;
constexpr unsigned kDeepestRepeat = 16;
// Each step holds a bit for every line: a long file for a large unit is refused before it is held.
constexpr std::size_t kMostLineWords = std::size_t{1} << 24;

std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

class Parser {
 public:
  Parser(std::string_view path, const Setup& setup) : path_(path), setup_(setup) {}

  Result<Stimulus> parse(std::string_view text, std::uint64_t most_cycles) {
    lines_ = word_lines(text);
    Stimulus stimulus;
    LOFT_TRY(stimulus.steps, read_steps(0));
    if (at_ < lines_.size()) return wrong(lines_[at_], "'end' without 'repeat'");
    const auto cycles = cycles_of(stimulus.steps);
    if (!cycles || *cycles > most_cycles)
      return failure(
          ErrorKind::limit, fmt::format("play {}", printable(path_)),
          cycles ? fmt::format("it takes {} cycles, and the limit is {}", *cycles, most_cycles)
                 : "it takes more cycles than 64 bits can tell",
          "allow more with --limit");
    stimulus.cycles = *cycles;
    return stimulus;
  }

 private:
  Failure wrong(const WordLine& line, std::string why, std::string hint = {}) const {
    return failure(ErrorKind::invalid_input,
                   fmt::format("play {}:{}", printable(path_), line.number), std::move(why),
                   std::move(hint));
  }

  // Up to `end` or the end of the text.
  Result<std::vector<StimulusStep>> read_steps(unsigned depth) {
    std::vector<StimulusStep> steps;
    while (at_ < lines_.size() && lines_[at_].words[0] != "end") {
      const WordLine& line = lines_[at_++];
      LOFT_TRY(StimulusStep step, read_step(line));
      if (step.kind == Kind::repeat) {
        if (depth == kDeepestRepeat)
          return wrong(line, fmt::format("'repeat' is nested deeper than {}", kDeepestRepeat));
        LOFT_TRY(step.body, read_steps(depth + 1));
        if (at_ == lines_.size()) return wrong(line, "'repeat' has no 'end'");
        ++at_;
      }
      steps.push_back(std::move(step));
    }
    return steps;
  }

  Result<StimulusStep> read_step(const WordLine& line) {
    const auto& words = line.words;
    StimulusStep step;
    if (words[0] == "flip") return read_flip(line);
    if (words[0] == "start" || words[0] == "stop" || words[0] == "reset") {
      step.kind = words[0] == "start" ? Kind::start : words[0] == "stop" ? Kind::stop : Kind::reset;
      if (words.size() > 1) return wrong(line, fmt::format("'{}' takes nothing more", words[0]));
      return step;
    }
    if (words[0] != "hold" && words[0] != "pulse" && words[0] != "random" && words[0] != "repeat")
      return wrong(line, fmt::format("'{}' is not known", shown_word(words[0])),
                   "lines begin with hold, pulse, random, repeat, end, start, stop, reset or flip");
    step.kind = words[0] == "hold"     ? Kind::hold
                : words[0] == "pulse"  ? Kind::pulse
                : words[0] == "random" ? Kind::random
                                       : Kind::repeat;
    const std::size_t numbers = step.kind == Kind::random ? 2 : 1;
    if (words.size() <= numbers) return wrong(line, fmt::format("'{}' needs a number", words[0]));
    const auto count = parse_u64(words[1]);
    const auto seed = parse_u64(words[numbers]);
    if (!count || !seed)
      return wrong(line, fmt::format("'{}' is no number", shown_word(words[count ? numbers : 1])));
    step.count = *count;
    step.seed = *seed;
    if (step.kind == Kind::repeat)
      return words.size() == 2 ? Result<StimulusStep>(std::move(step))
                               : wrong(line, "'repeat' takes one number");
    LOFT_CHECK(read_lines(line, numbers + 1, step.lines));
    return step;
  }

  Result<void> read_lines(const WordLine& line, std::size_t from,
                          std::vector<std::uint64_t>& lines) {
    line_words_ += setup_.sizes.input_words();
    if (line_words_ > kMostLineWords)
      return wrong(line,
                   fmt::format("more steps than memory is meant for: {} lines in each",
                               setup_.sizes.events()),
                   "use repeat");
    lines.assign(setup_.sizes.input_words(), 0);
    for (std::size_t i = from; i < line.words.size(); ++i) {
      LOFT_TRY(const auto range, events_of(line, line.words[i]));
      for (unsigned event = range.first; event <= range.last; ++event)
        lines[std::size_t{setup_.sizes.input_of(event)} * setup_.sizes.plane_words() +
              setup_.sizes.counter_of(event) / 64] |= std::uint64_t{1}
                                                      << setup_.sizes.counter_of(event) % 64;
    }
    return {};
  }

  struct Range {
    unsigned first;
    unsigned last;
  };
  // A name, a number, a range of numbers, or all.
  Result<Range> events_of(const WordLine& line, std::string_view word) const {
    const unsigned end = setup_.sizes.events();
    if (word == "all") return Range{0, end - 1};
    if (const SelectedEvent* event = setup_.find(word)) return Range{event->event, event->event};
    const auto dash = word.find('-');
    const auto first = parse_u64(word.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_u64(word.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= end)
      return wrong(
          line, fmt::format("'{}' is no event line", shown_word(word)),
          fmt::format("give a name of the configuration, 0 to {}, a range or 'all'", end - 1));
    return Range{static_cast<unsigned>(*first), static_cast<unsigned>(*last)};
  }

  Result<StimulusStep> read_flip(const WordLine& line) const {
    const SelectedEvent* event = line.words.size() == 3 ? setup_.find(line.words[1]) : nullptr;
    const auto bit = event != nullptr ? parse_u64(line.words[2]) : std::nullopt;
    if (!bit || *bit > setup_.sizes.high_bits)
      return wrong(line, "'flip' takes a name of the configuration and a bit",
                   fmt::format("bits 0 to {}, and {} for parity", setup_.sizes.high_bits - 1,
                               setup_.sizes.high_bits));
    StimulusStep step;
    step.kind = Kind::flip;
    step.counter = setup_.sizes.counter_of(event->event);
    step.bit = static_cast<unsigned>(*bit);
    return step;
  }

  // At most: an access waits for a visit to end, is taken, and is answered two cycles later.
  [[nodiscard]] std::optional<std::uint64_t> cycles_of(
      const std::vector<StimulusStep>& steps) const {
    constexpr std::uint64_t kAccessCycles = kVisitCycles + 3;
    const std::uint64_t reset_cycles =
        kAccessCycles * (setup_.events.size() + 2 * pending_words(setup_.sizes) + 2);
    std::uint64_t sum = 0;
    for (const StimulusStep& step : steps) {
      std::optional<std::uint64_t> cycles = step.kind == Kind::reset ? reset_cycles : kAccessCycles;
      if (step.kind == Kind::repeat) {
        const auto body = cycles_of(step.body);
        cycles = body ? product(std::max<std::uint64_t>(*body, 1), step.count) : std::nullopt;
      } else if (step.kind <= Kind::random) {
        cycles = std::max<std::uint64_t>(step.count, 1);
      }
      if (!cycles || __builtin_add_overflow(sum, *cycles, &sum)) return std::nullopt;
    }
    return sum;
  }

  std::string_view path_;
  const Setup& setup_;
  std::vector<WordLine> lines_;
  std::size_t at_ = 0;
  std::size_t line_words_ = 0;
};

}  // namespace

Result<Stimulus> parse_stimulus(std::string_view text, std::string_view path, const Setup& setup,
                                std::uint64_t most_cycles) {
  return Parser(path, setup).parse(text, most_cycles);
}

}  // namespace loft::upc
