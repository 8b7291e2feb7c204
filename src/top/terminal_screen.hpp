// The terminal of the live screen, by ncurses: taken over while this exists, given back afterwards.
//
//   LOFT_TRY(auto terminal, TerminalScreen::open());
//   terminal.draw(screen.lines(terminal.rows(), terminal.columns()));
//   while (const auto key = terminal.take_key()) ...   // when standard input is readable
#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "top/screen.hpp"

namespace loft::top {

class TerminalScreen {
 public:
  // Fails where standard input or output is no terminal, or one that ncurses does not know.
  [[nodiscard]] static Result<TerminalScreen> open();
  TerminalScreen(TerminalScreen&& other) noexcept;
  TerminalScreen& operator=(TerminalScreen&&) = delete;
  ~TerminalScreen();

  [[nodiscard]] int rows() const;
  [[nodiscard]] int columns() const;
  [[nodiscard]] bool has_unicode() const { return has_unicode_; }

  void draw(const std::vector<ScreenLine>& lines);
  // A character or one of `key`; nothing when none is left. A change of size is a key that means
  // nothing, so that the caller draws again.
  [[nodiscard]] std::optional<int> take_key();

 private:
  TerminalScreen() = default;
  bool is_open_ = false;
  bool has_colours_ = false;
  bool has_unicode_ = false;
};

}  // namespace loft::top
