// Where a command prints, and what that place can show.
//
// Results of commands that run a program go to `notes` (standard error), so that the program's own
// output stays untouched; results of all other commands go to `out`.
#pragma once

#include <cstdio>
#include <string_view>

namespace loft::cli {

class Terminal {
 public:
  // Looks at the two streams, NO_COLOR and the window.
  Terminal(std::FILE* out, std::FILE* notes);

  // Long lines are folded where people read them, unless a program is to.
  void print(std::string_view text) { write(out_, text, out_is_terminal_); }
  void note(std::string_view text) { write(notes_, text, notes_is_terminal_); }
  void set_folding(bool folds) { folds_ = folds; }

  [[nodiscard]] bool out_is_terminal() const { return out_is_terminal_; }
  [[nodiscard]] bool notes_is_terminal() const { return notes_is_terminal_; }
  [[nodiscard]] bool may_colour() const { return may_colour_; }
  [[nodiscard]] int columns() const { return columns_; }

  // False once a write failed (a full disk, a closed pipe).
  [[nodiscard]] bool flush();

 private:
  void write(std::FILE* stream, std::string_view text, bool is_terminal);

  std::FILE* out_;
  std::FILE* notes_;
  bool out_is_terminal_;
  bool notes_is_terminal_;
  bool may_colour_;
  int columns_ = 80;
  bool folds_ = true;
  bool failed_ = false;
};

}  // namespace loft::cli
