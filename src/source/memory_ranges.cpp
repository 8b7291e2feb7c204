#include "source/memory_ranges.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::source {
namespace {

// START-END PERMISSIONS OFFSET DEVICE INODE PATH
std::optional<MemoryRange> parse_line(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.push_back(word);
  if (words.size() < 5 || words[1].size() < 3) return std::nullopt;
  const auto range = split(words[0], '-');
  const auto start = parse_hex(range.front());
  const auto end = parse_hex(range.back());
  const auto offset = parse_hex(words[2]);
  if (!start || !end || !offset || *end < *start) return std::nullopt;
  MemoryRange result{*start, *end, *offset, words[1][2] == 'x', {}};
  if (words.size() > 5)
    result.path = line.substr(static_cast<std::size_t>(words[5].data() - line.data()));
  return result;
}

}  // namespace

std::vector<MemoryRange> parse_mappings(std::string_view text) {
  std::vector<MemoryRange> mappings;
  for (const std::string_view line : split(text, '\n'))
    if (auto mapping = parse_line(line)) mappings.push_back(std::move(*mapping));
  return mappings;
}

Result<std::vector<MemoryRange>> mappings_of(pid_t pid) {
  LOFT_TRY(const std::string text, read_file(fmt::format("/proc/{}/maps", pid)));
  return parse_mappings(text);
}

}  // namespace loft::source
