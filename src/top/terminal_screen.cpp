#include "top/terminal_screen.hpp"

#include <langinfo.h>
#include <locale.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

// Its macros are named like much else: last, and with wide characters.
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <ncurses.h>

namespace loft::top {
namespace {

int attribute_of(Style style, bool has_colours) {
  const auto pair = [&](int number, attr_t otherwise) {
    return static_cast<int>(has_colours ? COLOR_PAIR(number) : otherwise);
  };
  switch (style) {
    case Style::plain:
      return A_NORMAL;
    case Style::faint:
      return A_DIM;
    case Style::strong:
      return A_BOLD;
    case Style::title:
      return A_REVERSE;
    case Style::low:
      return pair(1, A_NORMAL);
    case Style::medium:
      return pair(2, A_NORMAL);
    case Style::high:
      return pair(3, A_BOLD);
  }
  return A_NORMAL;
}

}  // namespace

Result<TerminalScreen> TerminalScreen::open() {
  const char* const what = "show the live screen";
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)
    return failure(ErrorKind::invalid_input, what, "this is no terminal", "use --batch");
  ::setlocale(LC_CTYPE, "");
  TerminalScreen screen;
  screen.has_unicode_ = std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
  ::setenv("ESCDELAY", "25", 0);  // the escape key shall not wait for a second
  if (::newterm(nullptr, stdout, stdin) == nullptr)
    return failure(ErrorKind::unsupported, what, "ncurses does not know the terminal ($TERM)",
                   "use --batch, or set TERM");
  screen.is_open_ = true;
  ::cbreak();
  ::noecho();
  ::keypad(stdscr, true);
  ::nodelay(stdscr, true);
  ::curs_set(0);
  const char* const no_colour = std::getenv("NO_COLOR");
  screen.has_colours_ = ::has_colors() && (no_colour == nullptr || *no_colour == '\0');
  if (screen.has_colours_) {
    ::start_color();
    ::use_default_colors();
    ::init_pair(1, COLOR_GREEN, -1);
    ::init_pair(2, COLOR_YELLOW, -1);
    ::init_pair(3, COLOR_RED, -1);
  }
  return screen;
}

TerminalScreen::TerminalScreen(TerminalScreen&& other) noexcept
    : is_open_(std::exchange(other.is_open_, false)),
      has_colours_(other.has_colours_),
      has_unicode_(other.has_unicode_) {}

TerminalScreen::~TerminalScreen() {
  if (is_open_) ::endwin();
}

int TerminalScreen::rows() const { return ::getmaxy(stdscr); }
int TerminalScreen::columns() const { return ::getmaxx(stdscr); }

void TerminalScreen::draw(const std::vector<ScreenLine>& lines) {
  ::erase();
  for (std::size_t y = 0; y < lines.size(); ++y) {
    ::move(static_cast<int>(y), 0);
    for (const Span& span : lines[y]) {
      ::attrset(attribute_of(span.style, has_colours_));
      ::addstr(span.text.c_str());
    }
  }
  ::attrset(A_NORMAL);
  ::refresh();
}

std::optional<int> TerminalScreen::take_key() {
  const int key = ::getch();
  switch (key) {
    case ERR:
      return std::nullopt;
    case KEY_UP:
      return key::kUp;
    case KEY_DOWN:
      return key::kDown;
    case KEY_PPAGE:
      return key::kPageUp;
    case KEY_NPAGE:
      return key::kPageDown;
    case KEY_BACKSPACE:
      return key::kBackspace;
    case KEY_ENTER:
      return key::kEnter;
    case KEY_RESIZE:
      return 0;
    default:
      return key;
  }
}

}  // namespace loft::top
