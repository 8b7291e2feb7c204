#include "top/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "top/values.hpp"

namespace loft::top {
namespace {

constexpr std::size_t kHistory = 240;
constexpr std::size_t kBar = 10;
constexpr std::size_t kSpark = 16;
constexpr std::size_t kColumn = 11;
constexpr std::size_t kMostPrompt = 1000;
constexpr int kPage = 10;  // cores

constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kPlain[] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};

Style heat(double share) {
  return share >= 0.8 ? Style::high : share >= 0.4 ? Style::medium : Style::low;
}

bool is_first_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::string fitted(std::string_view text, std::size_t width) {
  std::string fit = cut(text, width);
  fit.append(width - width_of(fit), ' ');
  return fit;
}

ScreenLine line_of(std::string text, Style style = Style::plain) {
  return {{std::move(text), style}};
}

ScreenLine cut_line(ScreenLine line, std::size_t columns) {
  std::size_t used = 0;
  for (Span& span : line) {
    span.text = cut(span.text, columns - used);
    used += width_of(span.text);
  }
  return line;
}

std::optional<double> named(const CoreSample& core, std::string_view name) {
  if (!core.is_read()) return std::nullopt;
  for (const NamedValue& value : values_of(core))
    if (value.name == name) return value.value;
  return std::nullopt;
}

// Why a core has no place under the roofs.
std::string why_not_placed(const CoreSample& core) {
  if (!core.is_read()) return core.why;
  for (const NamedValue& value : values_of(core))
    if ((value.name == "GFLOPS" || value.name == "intensity") && !value.why.empty())
      return std::string(value.why);
  return "operations and bytes are not counted";
}

const std::vector<std::pair<const char*, const char*>>& keys() {
  static const std::vector<std::pair<const char*, const char*>> all = {
      {"q", "quit"},
      {"e", "change events: 'IPC' on all cores, '0-3: cycles' on some, '+IPC' beside the others"},
      {"r", "the roofline position of each core, and back"},
      {"t", "show or hide the busiest threads"},
      {"+ -", "sample more often, less often"},
      {"up down", "move through the cores; page up and page down by many"},
      {"h ?", "this help, and back"}};
  return all;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, is_first_byte));
}

std::string cut(std::string_view text, std::size_t characters) {
  std::size_t seen = 0;
  std::size_t end = 0;
  while (end < text.size() && !(is_first_byte(text[end]) && seen++ == characters)) ++end;
  return std::string(text.substr(0, end));
}

ControlRequest parse_prompt(std::string_view text) {
  const auto colon = text.find(": ");
  if (colon == std::string_view::npos) return {"", std::string(trim(text))};
  return {std::string(trim(text.substr(0, colon))), std::string(trim(text.substr(colon + 1)))};
}

void Screen::add(Frame frame) {
  for (const CoreSample& core : frame.cores) {
    auto& history = busy_[core.cpu];
    history.push_back(core.busy.value_or(-1));
    if (history.size() > kHistory) history.pop_front();
    if (!core.note.empty()) message_ = fmt::format("CPU {}: {}", core.cpu, core.note);
  }
  frame_ = std::move(frame);
}

KeyAction Screen::press(int key) {
  if (prompt_) return press_in_prompt(key);
  message_.clear();
  KeyAction action;
  switch (key) {
    case 'q':
      action.quits = true;
      break;
    case 'h':
    case '?':
      view_ = view_ == View::help ? View::cores : View::help;
      break;
    case 'r':
      return show_roofline();
    case 't':
      shows_threads_ = !shows_threads_;
      break;
    case 'e':
      prompt_ = "";
      break;
    case '+':
      action.interval_factor = 0.5;
      break;
    case '-':
      action.interval_factor = 2;
      break;
    case key::kEscape:
      view_ = View::cores;
      break;
    default:
      move(key);
  }
  return action;
}

void Screen::move(int key) {
  const int by = key == key::kUp         ? -1
                 : key == key::kDown     ? 1
                 : key == key::kPageUp   ? -kPage
                 : key == key::kPageDown ? kPage
                                         : 0;
  const int last = frame_ ? static_cast<int>(frame_->cores.size()) - 1 : 0;
  first_core_ = static_cast<std::size_t>(
      std::clamp(static_cast<int>(first_core_) + by, 0, std::max(last, 0)));
}

KeyAction Screen::press_in_prompt(int key) {
  KeyAction action;
  if (key == key::kEnter || key == '\r') {
    if (!trim(*prompt_).empty()) action.change = parse_prompt(*prompt_);
    prompt_.reset();
  } else if (key == key::kEscape) {
    prompt_.reset();
  } else if (key == key::kBackspace || key == 8) {
    if (!prompt_->empty()) prompt_->pop_back();
  } else if (key >= ' ' && key < 127 && prompt_->size() < kMostPrompt) {
    prompt_->push_back(static_cast<char>(key));
  }
  return action;
}

// Where the cores do not count operations and bytes yet, they are asked to.
KeyAction Screen::show_roofline() {
  KeyAction action;
  view_ = view_ == View::roofline ? View::cores : View::roofline;
  if (view_ != View::roofline || !frame_ || !options_.roofline) return action;
  const bool is_counted = std::ranges::any_of(frame_->cores, [](const CoreSample& core) {
    return named(core, "GFLOPS") && named(core, "intensity");
  });
  if (!is_counted) action.change = ControlRequest{"", "+GFLOPS,intensity"};
  return action;
}

ScreenLine Screen::head() const {
  std::string text = " loft top";
  if (frame_)
    text += fmt::format(
        "  {} cores, every {}  {:.0f} s   loft itself: {:.2f} % of a CPU, {} a reading",
        frame_->cores.size(), format_seconds(options_.interval_ms / 1e3), to_seconds(frame_->time),
        frame_->cost.cpu_share * 100, format_seconds(to_seconds(frame_->cost.reader_time)));
  return line_of(text, Style::title);
}

ScreenLine Screen::power() const {
  ScreenLine line = line_of(" power ", Style::faint);
  if (!frame_ || frame_->energy.empty()) {
    line.push_back({frame_ ? "no meter (see 'loft doctor')" : "", Style::faint});
    return line;
  }
  for (const EnergySample& energy : frame_->energy) {
    line.push_back({" " + printable(energy.domain) + " ", Style::faint});
    line.push_back({energy.watts ? fmt::format("{}{:.1f} W",
                                               energy.origin == sample::Origin::counted ? "" : "~",
                                               *energy.watts)
                                 : "n/a",
                    Style::strong});
  }
  return line;
}

std::string Screen::spark(int cpu, std::size_t width) const {
  const auto found = busy_.find(cpu);
  if (found == busy_.end()) return std::string(width, ' ');
  const auto& history = found->second;
  const std::size_t shown = std::min(width, history.size());
  std::string text(width - shown, ' ');
  for (std::size_t i = history.size() - shown; i < history.size(); ++i) {
    // An unknown share is a gap.
    const long level = history[i] < 0 ? 0 : 1 + std::lround(std::min(history[i], 1.0) * 7);
    text += (options_.has_unicode ? kBlocks : kPlain)[level];
  }
  return text;
}

ScreenLine Screen::core_line(const CoreSample& core, int columns) const {
  ScreenLine line;
  line.push_back({fmt::format("{:>4} ", core.cpu), Style::strong});
  if (core.busy) {
    const auto filled = static_cast<std::size_t>(std::lround(*core.busy * kBar));
    std::string bar;
    for (std::size_t i = 0; i < filled; ++i) bar += options_.has_unicode ? "█" : "#";
    const char* mark = core.busy_origin == sample::Origin::counted ? "" : "~";
    line.push_back(
        {fmt::format("{:>4} % ", fmt::format("{}{:.0f}", mark, *core.busy * 100)), Style::plain});
    line.push_back({fitted(bar, kBar), heat(*core.busy)});
  } else {
    line.push_back({fitted("  n/a", 7 + kBar), Style::faint});
  }
  line.push_back({" " + spark(core.cpu, kSpark), Style::faint});
  if (!core.is_read()) {
    line.push_back({"  " + core.why, Style::faint});
    return cut_line(std::move(line), static_cast<std::size_t>(columns));
  }
  for (const NamedValue& value : values_of(core))
    line.push_back({fmt::format(" {:>{}}", short_text(value), kColumn),
                    value.value ? Style::plain : Style::faint});
  return cut_line(std::move(line), static_cast<std::size_t>(columns));
}

void Screen::add_cores(std::vector<ScreenLine>& lines, int rows, int columns) const {
  std::vector<std::string> names;
  bool has_header = false;
  for (std::size_t i = std::min(first_core_, frame_->cores.size()); i < frame_->cores.size(); ++i) {
    const CoreSample& core = frame_->cores[i];
    // Cores may count different events: a header stands wherever the names change.
    std::vector<std::string> own;
    for (const NamedValue& value : values_of(core)) own.emplace_back(value.name);
    if (!has_header || (core.set && own != names)) {
      std::string header =
          fmt::format(" cpu   busy {} {}", std::string(kBar, ' '), fitted("over time", kSpark));
      for (const std::string& name : own)
        header += fmt::format(" {:>{}}", cut(printable(name), kColumn), kColumn);
      lines.push_back(line_of(header, Style::faint));
      names = std::move(own);
      has_header = true;
    }
    if (static_cast<int>(lines.size()) >= rows) return;
    lines.push_back(core_line(core, columns));
    if (static_cast<int>(lines.size()) >= rows) return;
  }
}

void Screen::add_roofline(std::vector<ScreenLine>& lines) const {
  if (!options_.roofline) {
    lines.push_back(line_of(" no roofline: " + options_.why_no_roofline, Style::faint));
    return;
  }
  lines.push_back(line_of(fmt::format(" {:>4} {:>10} {:>10}  {:<24} {:>8}", "cpu", "GFLOP/s",
                                      "FLOP/B", "limited by", "of that"),
                          Style::faint));
  for (const CoreSample& core : frame_->cores) {
    const auto gflops = named(core, "GFLOPS");
    const auto intensity = named(core, "intensity");
    const auto limit = gflops && intensity ? options_.roofline->limit(*intensity, *gflops * 1e9)
                                           : std::optional<model::Limit>();
    if (!limit) {
      lines.push_back(line_of(fmt::format(" {:>4} {:>10} {:>10}  {}", core.cpu, "n/a", "n/a",
                                          printable(why_not_placed(core))),
                              Style::faint));
      continue;
    }
    lines.push_back({{fmt::format(" {:>4} {:>10.3g} {:>10.3g}  {:<24} ", core.cpu, *gflops,
                                  *intensity, limit->name),
                      Style::plain},
                     {fmt::format("{:>6.0f} %", limit->share * 100), heat(limit->share)}});
  }
}

void Screen::add_threads(std::vector<ScreenLine>& lines, int rows) const {
  if (threads_.empty() || static_cast<int>(lines.size()) + 2 > rows) return;
  lines.push_back(line_of(fmt::format(" {:>8} {:<16} {:>4} {:>8} {:>10}  {}", "tid", "thread",
                                      "cpu", "runs", "waits", "sleeps in"),
                          Style::faint));
  for (const BusyThread& thread : threads_) {
    if (static_cast<int>(lines.size()) >= rows) return;
    lines.push_back(
        {{fmt::format(" {:>8} {} {:>4} ", thread.tid, fitted(printable(thread.name), 16),
                      thread.cpu),
          Style::plain},
         {fmt::format("{:>6.1f} %", thread.running * 100), heat(thread.running)},
         {fmt::format(" {:>8.1f} %  {}", thread.waiting * 100, printable(thread.sleeps_in)),
          Style::plain}});
  }
}

ScreenLine Screen::foot() const {
  if (prompt_)
    return line_of(" events (CPUS: EVENTS, or EVENTS): " + *prompt_ + "_", Style::strong);
  if (!message_.empty()) return line_of(" " + printable(message_), Style::strong);
  return line_of(" q quit  e events  r roofline  t threads  + - pace  h help", Style::title);
}

std::vector<ScreenLine> Screen::lines(int rows, int columns) const {
  std::vector<ScreenLine> lines;
  if (rows < 2 || columns < 1) return lines;
  const int body = rows - 1;  // the last is the foot
  lines.push_back(head());
  lines.push_back(power());
  if (view_ == View::help) {
    for (const auto& [key, meaning] : keys())
      lines.push_back({{fmt::format("   {:<10}", key), Style::strong}, {meaning, Style::plain}});
  } else if (!frame_) {
    lines.push_back(line_of(" the first sample is on its way", Style::faint));
  } else if (view_ == View::roofline) {
    add_roofline(lines);
  } else {
    // Threads get a third of the screen where there are more cores than lines.
    const int for_threads = shows_threads_ && !threads_.empty() ? std::max(3, body / 3) : 0;
    add_cores(lines, body - for_threads, columns);
    if (shows_threads_) add_threads(lines, body);
  }
  lines.resize(static_cast<std::size_t>(body));
  lines.push_back(foot());
  for (ScreenLine& line : lines)
    line = cut_line(std::move(line), static_cast<std::size_t>(columns));
  return lines;
}

}  // namespace loft::top
