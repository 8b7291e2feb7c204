#include "view/json_text.hpp"

#include "base/text.hpp"

namespace loft::view {
bool is_plain_json(std::string_view text) {
  for (const char c : text)
    if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == 0x7F) return false;  // or not ASCII
  return true;
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  if (is_plain_json(text)) {
    out += text;
  } else {
    // printable() leaves valid UTF-8 and turns everything else into \xNN, as in all other outputs.
    for (const char c : printable(text)) {
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (c == '<') {
        out += "\\u003c";
      } else {
        out += c;
      }
    }
  }
  out += '"';
}

}  // namespace loft::view
