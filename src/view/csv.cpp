#include "view/csv.hpp"

#include "base/text.hpp"

namespace loft::view {

std::string csv_field(std::string_view text) {
  std::string safe = printable(text);
  if (!safe.empty() && std::string_view("=+-@").find(safe.front()) != std::string_view::npos)
    safe.insert(safe.begin(), '\'');
  if (safe.find_first_of(",\"") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace loft::view
