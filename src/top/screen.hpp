// The live screen as a model: samples and keys in, lines of styled text out. Nothing here knows a
// terminal, so that all of it can be tested.
//
//   Screen screen(options);
//   screen.add(frame);
//   for (const ScreenLine& line : screen.lines(24, 80)) ...
//   const KeyAction action = screen.press('q');
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/roofline.hpp"
#include "top/control_socket.hpp"
#include "top/frame.hpp"
#include "top/threads.hpp"

namespace loft::top {

enum class Style { plain, faint, strong, title, low, medium, high };

struct Span {
  std::string text;
  Style style = Style::plain;
};
using ScreenLine = std::vector<Span>;

// Keys that are no character.
namespace key {
inline constexpr int kUp = 0x110000;  // beyond Unicode
inline constexpr int kDown = kUp + 1;
inline constexpr int kPageUp = kUp + 2;
inline constexpr int kPageDown = kUp + 3;
inline constexpr int kEnter = '\n';
inline constexpr int kEscape = 27;
inline constexpr int kBackspace = 127;
}  // namespace key

struct KeyAction {
  bool quits = false;
  std::optional<ControlRequest> change;
  double interval_factor = 1;
};

struct ScreenOptions {
  bool has_unicode = true;  // block characters for bars and sparklines
  // One core's roofs; why there are none, otherwise.
  std::optional<model::Roofline> roofline;
  std::string why_no_roofline;
  double interval_ms = 1000;
};

class Screen {
 public:
  explicit Screen(ScreenOptions options) : options_(std::move(options)) {}

  void add(Frame frame);
  void set_threads(std::vector<BusyThread> threads) { threads_ = std::move(threads); }
  void set_interval(double milliseconds) { options_.interval_ms = milliseconds; }
  // Shown at the bottom until the next key.
  void tell(std::string message) { message_ = std::move(message); }
  [[nodiscard]] bool shows_threads() const { return shows_threads_ && view_ == View::cores; }

  [[nodiscard]] KeyAction press(int key);
  // At most `rows` lines, none wider than `columns`.
  [[nodiscard]] std::vector<ScreenLine> lines(int rows, int columns) const;

 private:
  enum class View { cores, roofline, help };
  [[nodiscard]] KeyAction press_in_prompt(int key);
  [[nodiscard]] KeyAction show_roofline();
  void move(int key);
  [[nodiscard]] ScreenLine head() const;
  [[nodiscard]] ScreenLine power() const;
  [[nodiscard]] ScreenLine foot() const;
  void add_cores(std::vector<ScreenLine>& lines, int rows, int columns) const;
  void add_roofline(std::vector<ScreenLine>& lines) const;
  void add_threads(std::vector<ScreenLine>& lines, int rows) const;
  [[nodiscard]] ScreenLine core_line(const CoreSample& core, int columns) const;
  [[nodiscard]] std::string spark(int cpu, std::size_t width) const;

  ScreenOptions options_;
  std::optional<Frame> frame_;
  std::map<int, std::deque<double>> busy_;  // of each core, the latest last
  std::vector<BusyThread> threads_;
  View view_ = View::cores;
  bool shows_threads_ = true;
  std::size_t first_core_ = 0;
  std::optional<std::string> prompt_;
  std::string message_;
};

// "3: cycles,IPC" is for CPU 3, "cycles" for all.
[[nodiscard]] ControlRequest parse_prompt(std::string_view text);

// The text cut to so many characters, whatever their bytes.
[[nodiscard]] std::string cut(std::string_view text, std::size_t characters);
[[nodiscard]] std::size_t width_of(std::string_view text);

}  // namespace loft::top
