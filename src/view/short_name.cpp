#include "view/short_name.hpp"

#include <string_view>

namespace loft::view {
namespace {

// A letter of several bytes is kept or left as a whole.
bool is_inside_letter(const std::string& text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

std::string start_of(const std::string& text, std::size_t width) {
  while (width > 0 && is_inside_letter(text, width)) --width;
  return text.substr(0, width);
}

std::string end_of(const std::string& text, std::size_t width) {
  std::size_t at = text.size() - width;
  while (is_inside_letter(text, at)) ++at;
  return text.substr(at);
}

}  // namespace

std::string shortened(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  return start_of(text, width - 3) + "...";
}

std::string short_name(std::string text, std::size_t width) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (auto at = text.find(kUnnamed); at != std::string::npos; at = text.find(kUnnamed))
    text.erase(at, kUnnamed.size());
  // A function without a name goes by its address; its build id is for other outputs.
  const auto id = text.rfind(" [");
  if (id != std::string::npos && text.find("+0x") < id && text.ends_with(']')) text.erase(id);
  if (text.size() <= width) return text;
  const std::size_t front = width / 3;
  return start_of(text, front) + "..." + end_of(text, width - front - 3);
}

}  // namespace loft::view
