#include "base/fold.hpp"

#include <algorithm>

namespace loft {
namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Behind the colour that begins at `at`, or `at` itself.
std::size_t skip_colour(std::string_view line, std::size_t at) {
  if (line.substr(at, 2) != "\x1b[") return at;
  const std::size_t end = line.find('m', at);
  return end == std::string_view::npos ? at : end + 1;
}

// Where a line begins to be too long, and where it can end before that.
struct Reach {
  std::size_t end = 0;           // bytes that fit
  std::size_t blank = 0;         // the last blank of them that has a word before it; 0: none
  std::size_t field = 0;         // the start of the last field, in bytes
  std::size_t field_column = 0;  // and in characters
};

Reach reach_of(std::string_view line, std::size_t columns, std::size_t latest_field) {
  Reach reach;
  std::size_t column = 0;
  std::size_t blanks = 0;
  bool has_word = false;
  std::size_t at = 0;
  while (at < line.size() && column <= columns) {
    if (const std::size_t behind = skip_colour(line, at); behind != at) {
      at = behind;
      continue;
    }
    if (line[at] == ' ') {
      if (has_word) reach.blank = at;
      ++blanks;
    } else {
      if (blanks >= 2 && has_word && column <= latest_field) {
        reach.field = at;
        reach.field_column = column;
      }
      blanks = 0;
      has_word = true;
    }
    ++at;
    while (at < line.size() && is_continuation(line[at])) ++at;
    if (++column <= columns) reach.end = at;
  }
  return reach;
}

std::size_t leading_blanks(std::string_view line) {
  const std::size_t word = line.find_first_not_of(' ');
  return word == std::string_view::npos ? line.size() : word;
}

void fold_line(std::string_view line, std::size_t columns, std::string& to) {
  constexpr std::size_t kHanging = 4;
  const std::size_t latest_field = columns - (columns + 2) / 3;
  const Reach first = reach_of(line, columns, latest_field);
  const std::size_t indent = first.field > 0
                                 ? first.field_column
                                 : std::min(leading_blanks(line) + kHanging, latest_field);
  Reach reach = first;
  while (reach.end < line.size()) {
    std::size_t cut = reach.blank;
    if (cut == 0) cut = line.find(' ', std::max(reach.end, leading_blanks(line)));
    if (cut >= line.size()) break;
    std::string_view piece = line.substr(0, cut);
    piece = piece.substr(0, piece.find_last_not_of(' ') + 1);
    to.append(piece).append("\n").append(indent, ' ');
    line = line.substr(cut);
    line = line.substr(leading_blanks(line));
    reach = reach_of(line, columns - indent, 0);
  }
  to.append(line);
}

}  // namespace

std::string folded(std::string_view text, std::size_t columns) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    fold_line(text.substr(0, end), columns, result);
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace loft
