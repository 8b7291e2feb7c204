#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/fold.hpp"

namespace loft::cli {

Terminal::Terminal(std::FILE* out, std::FILE* notes)
    : out_(out),
      notes_(notes),
      out_is_terminal_(::isatty(::fileno(out)) == 1),
      notes_is_terminal_(::isatty(::fileno(notes)) == 1),
      may_colour_(out_is_terminal_) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') may_colour_ = false;
  winsize window{};
  const int widest = ::fileno(out_is_terminal_ ? out : notes);
  if (::ioctl(widest, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) columns_ = window.ws_col;
}

void Terminal::write(std::FILE* stream, std::string_view text, bool is_terminal) {
  std::string fitting;
  if (is_terminal && folds_) {
    fitting = folded(text, static_cast<std::size_t>(columns_));
    text = fitting;
  }
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) failed_ = true;
}

bool Terminal::flush() {
  const bool flushed = std::fflush(out_) == 0 && std::fflush(notes_) == 0;
  return flushed && !failed_;
}

}  // namespace loft::cli
