#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/annotate.hpp"
#include "view/short_name.hpp"
#include "view/why_text.hpp"

namespace loft::view {
namespace {

using model::AnnotatedFunction;
using model::AnnotatedInstruction;
using model::AnnotatedSum;

constexpr std::size_t kColumns = 80;
constexpr std::size_t kOffset = 6;           // columns of the offset in the function
constexpr std::size_t kMostOthers = 3;       // events beside the first
constexpr std::size_t kHowLong = 26;         // of what is said of an instruction that is waited for
constexpr double kWorthSaying = 0.005;       // of the time
constexpr std::size_t kWorthLeavingOut = 4;  // instructions in a row

// Lines of at most `width` bytes, broken between words.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string lines;
  std::size_t used = 0;
  for (const std::string_view word : split(text, ' ')) {
    const bool fits = used == 0 || used + 1 + word.size() <= width;
    if (used > 0) lines += fits ? " " : "\n  ";
    used = fits ? used + (used > 0) + word.size() : 2 + word.size();
    lines += word;
  }
  return lines + "\n";
}

// Digits as long as they fit, then a prefix. Eight columns at most.
std::string count_text(std::optional<double> count) {
  if (!count) return "-";
  return *count < 1e7 ? fmt::format("{:.0f}", *count) : with_si_prefix(*count, "");
}

std::string percent(double share) {
  const double value = share * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return fmt::format("~{:.{}f} %", value, value < 10 ? 1 : 0);
}

std::string time_text(std::uint64_t samples, double share) {
  return samples == 0 ? "" : percent(share);
}

std::string offset_text(const AnnotatedFunction& function, std::uint64_t address) {
  return fmt::format("+{:x}", address - function.address);
}

bool is_inside(const AnnotatedFunction& function, std::uint64_t address) {
  return !function.code.empty() && address >= function.code.front().address &&
         address <= function.code.back().address;
}

// "load from DRAM 88 %, of +1f": what others wait for, and where that waits from.
std::string wait_text(const AnnotatedFunction& function, const AnnotatedInstruction& each) {
  if (!model::holds_back(each)) return {};
  std::string text = fmt::format("{} {:.0f} %", model::words_of(each.wait), *each.waited * 100);
  if (each.waits_for && *each.waits_for != each.address && is_inside(function, *each.waits_for)) {
    const std::string from = " <" + offset_text(function, *each.waits_for);
    if (text.size() + from.size() <= kHowLong) text += from;
  }
  return text;
}

// Numbers in front of the code: the time and how often it ran, or shares of sampled events.
std::string figures(const std::string& mark, const AnnotatedSum& sum, const std::string& count,
                    bool is_of_events) {
  std::string text = fmt::format("{:1}{:>7} ", mark, time_text(sum.samples, sum.share));
  if (!is_of_events) return text + fmt::format("{:>8} ", count);
  for (std::size_t i = 0; i < std::min(sum.others.size(), kMostOthers); ++i)
    text += fmt::format("{:>8} ", time_text(sum.others[i].samples, sum.others[i].share));
  return text;
}

std::string line(const std::string& before, const std::string& rest) {
  std::string text = before + rest;
  while (text.ends_with(' ')) text.pop_back();
  return text + "\n";
}

std::string instruction_line(const AnnotatedFunction& function, const AnnotatedInstruction& each,
                             bool is_of_events) {
  AnnotatedSum own;
  own.add(each);
  const std::string before =
      figures(model::holds_back(each) ? "*" : "", own, count_text(each.count), is_of_events);
  const std::string wait = wait_text(function, each);
  const std::size_t room =
      kColumns - before.size() - kOffset - (wait.empty() ? 0 : wait.size() + 2);
  const std::string code = short_name(printable(shown_instruction(function, each)), room);
  return line(before, fmt::format("{:>5} {:<{}}{}{}", offset_text(function, each.address), code,
                                  wait.empty() ? 0 : room, wait.empty() ? "" : "  ", wait));
}

std::string place_text(const model::SourcePlace& place) {
  const std::string file = place.file.substr(place.file.rfind('/') + 1);
  std::string where = place.line == 0 ? file : fmt::format("{}:{}", file, place.line);
  if (!place.inlined.empty()) where = fmt::format("{} in {}", where, place.inlined.back());
  return where;
}

// The source line that the next instructions come from, with what they have together.
std::string place_line(const model::SourcePlace& place, const AnnotatedSum& sum,
                       bool is_of_events) {
  constexpr std::size_t kWhere = 30;
  const std::string before = figures("", sum, "", is_of_events);
  const std::size_t room = kColumns - before.size();
  const std::string where = short_name(printable(place_text(place)), kWhere);
  std::string source(trim(printable(place.text)));
  if (!source.empty()) source = "  " + source;
  const std::size_t left = room > where.size() ? room - where.size() : 0;
  return line(before, where + shortened(source, std::max<std::size_t>(left, 8)));
}

bool is_quiet(const AnnotatedInstruction& each) {
  return each.share < kWorthSaying && each.waited.value_or(0) < kWorthSaying &&
         std::ranges::all_of(each.others, [](const auto& of) { return of.share < kWorthSaying; });
}

class Listing {
 public:
  Listing(const AnnotatedFunction& function, bool all, bool is_of_events)
      : function_(function), all_(all), is_of_events_(is_of_events) {}

  std::string text() {
    const auto& code = function_.code;
    for (std::size_t i = 0; i < code.size();) {
      const std::size_t quiet = quiet_from(i);
      if (!all_ && quiet - i >= kWorthLeavingOut) {
        leave_out(i, quiet);
        i = quiet;
        continue;
      }
      if (i == 0 || code[i].place != shown_place_) show_place(i);
      text_ += instruction_line(function_, code[i], is_of_events_);
      ++i;
    }
    return std::move(text_);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  [[nodiscard]] std::size_t quiet_from(std::size_t first) const {
    std::size_t end = first;
    while (end < function_.code.size() && is_quiet(function_.code[end])) ++end;
    return end;
  }

  void leave_out(std::size_t first, std::size_t end) {
    AnnotatedSum sum;
    for (std::size_t i = first; i < end; ++i) sum.add(function_.code[i]);
    text_ += line(figures("", sum, count_text(sum.count), is_of_events_),
                  fmt::format("{:>5} ... {} instructions", "", end - first));
    shown_place_ = kNone;
  }

  void show_place(std::size_t first) {
    shown_place_ = function_.code[first].place;
    AnnotatedSum sum;
    for (std::size_t i = first; i < function_.code.size(); ++i) {
      if (function_.code[i].place != shown_place_) break;
      sum.add(function_.code[i]);
    }
    const model::SourcePlace& place = function_.places[shown_place_];
    if (!place.file.empty() || !place.inlined.empty())
      text_ += place_line(place, sum, is_of_events_);
  }

  const AnnotatedFunction& function_;
  bool all_;
  bool is_of_events_;
  std::uint32_t shown_place_ = kNone;
  std::string text_;
};

std::string verdict_line(const AnnotatedFunction& function) {
  const std::string text = function.why ? why_text(*function.why) : std::string();
  return text.empty() ? text : wrapped(text, kColumns);
}

// "~71 % of cycles, ~98 % of cache-misses, 812 samples".
std::string shares_text(const AnnotatedFunction& function, const std::vector<std::string>& events) {
  std::string text =
      fmt::format("{} of {}", percent(function.share_of_time), printable(events.front()));
  for (std::size_t i = 0; i < function.others.size() && i + 1 < events.size(); ++i) {
    const auto& other = function.others[i];
    text += fmt::format(", {} of {}", other.samples == 0 ? "no sample" : percent(other.share),
                        printable(events[i + 1]));
  }
  return text + fmt::format(", {} samples", function.samples);
}

std::string head(const AnnotatedFunction& function, const std::vector<std::string>& events) {
  if (!events.empty())
    return fmt::format("{}\n{}{}\n", short_name(printable(function.name), kColumns),
                       wrapped(shares_text(function, events), kColumns),
                       short_name(printable(function.binary), kColumns));
  std::string time = "no sample met it";
  if (function.samples > 0)
    time = fmt::format("{} of the time, ~{}, {} samples", percent(function.share_of_time),
                       format_seconds(function.seconds), function.samples);
  const std::string name =
      short_name(printable(function.name), kColumns - std::min<std::size_t>(time.size() + 2, 50));
  return fmt::format("{}  {}\n{}\n{}", name, time, short_name(printable(function.binary), kColumns),
                     verdict_line(function));
}

}  // namespace

std::string shown_instruction(const AnnotatedFunction& function, const AnnotatedInstruction& each) {
  std::string text = each.text;
  for (const std::string_view size : {"xmmword ptr ", "ymmword ptr ", "zmmword ptr "})
    if (const auto at = text.find(size); at != std::string::npos) text.erase(at, size.size());
  if (each.target != 0 && is_inside(function, each.target))
    text = fmt::format("{} {}", text.substr(0, text.find(' ')), offset_text(function, each.target));
  return text;
}

// The name of an event in a narrow column: its end tells more than its beginning, and no word is
// cut where another one fits.
static std::string column_name(const std::string& event, std::size_t width) {
  if (event.size() <= width) return event;
  const std::size_t first = event.size() - width;
  const bool cuts_word = event.find_first_of("-_./", first - 1) != first - 1;
  const std::size_t separator = event.find_first_of("-_./", first);
  const bool has_word = cuts_word && separator != std::string::npos && separator + 1 < event.size();
  return event.substr(has_word ? separator + 1 : first);
}

// The names of the columns.
static std::string titles(const std::vector<std::string>& events) {
  if (events.empty()) return fmt::format("{:>8} {:>8} {:>5} {}\n", "time", "runs", "at", "code");
  std::string text;
  for (std::size_t i = 0; i < std::min(events.size(), kMostOthers + 1); ++i) {
    text += fmt::format("{:>8} ", column_name(printable(events[i]), 8));
  }
  return text + fmt::format("{:>5} {}\n", "at", "code");
}

std::string annotate_text(const model::Annotation& annotation, const AnnotateTextOptions& options) {
  std::string text;
  bool is_marked = false;
  for (const AnnotatedFunction& function : annotation.functions) {
    text += (text.empty() ? "" : "\n") + head(function, annotation.events);
    text += titles(annotation.events);
    text += Listing(function, options.all, !annotation.events.empty()).text();
    is_marked = is_marked || std::ranges::any_of(function.code, model::holds_back);
  }
  if (is_marked)
    text += wrapped(
        "* holds the function back: so much of its modelled time all waits for this "
        "instruction, and for what of it; < names the one that it waits for",
        kColumns);
  for (const std::string& note : annotation.notes)
    text += wrapped("note: " + printable(note), kColumns);
  return text;
}

}  // namespace loft::view
