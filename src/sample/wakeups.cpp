#include "sample/wakeups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.hpp"

namespace loft::sample {
namespace {

// A line of a section: numbers, then the two names, between tabs. Names lose their tabs and breaks.
constexpr std::size_t kWakeupFields = 9;

// Of the third field.
enum WakerKind : std::uint64_t { kByTask = 0, kByInterrupt = 1, kPerhapsByInterrupt = 2 };

std::uint64_t kind_of(const Wakeups& one) {
  if (one.by_interrupt) return kByInterrupt;
  return one.is_sure ? kByTask : kPerhapsByInterrupt;
}

Failure bad_wakeups(const std::string& path) {
  return failure(ErrorKind::malformed, "read who woke whom in '" + path + "'",
                 "a line of the section is not understood");
}

}  // namespace

void sort_wakeups(std::vector<Wakeups>& wakeups) {
  std::ranges::stable_sort(wakeups, std::greater(),
                           [](const Wakeups& one) { return std::pair(one.blocked_ns, one.times); });
}

std::vector<std::byte> wakeup_section(std::span<const Wakeups> wakeups) {
  std::string text;
  for (const Wakeups& one : wakeups)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", one.waker.pid, one.waker.tid,
                        kind_of(one), one.woken.pid, one.woken.tid, one.times, one.blocked_ns,
                        printable(one.waker.name), printable(one.woken.name));
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

Result<std::vector<Wakeups>> read_wakeup_section(std::span<const std::byte> bytes,
                                                 const std::string& path) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<Wakeups> all;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.find_first_not_of('\0') == std::string_view::npos) continue;
    const auto fields = split(line, '\t');
    if (fields.size() != kWakeupFields) return bad_wakeups(path);
    std::uint64_t numbers[7] = {};
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
      const auto number = parse_u64(fields[i]);
      const bool is_id = i != 2 && i < 5;
      if (!number || (is_id && *number > 0xFFFFFFFF)) return bad_wakeups(path);
      numbers[i] = *number;
    }
    const auto id = [&](std::size_t i) { return static_cast<std::uint32_t>(numbers[i]); };
    all.push_back({{id(0), id(1), std::string(fields[7])},
                   numbers[2] == kByInterrupt,
                   numbers[2] != kPerhapsByInterrupt,
                   {id(3), id(4), std::string(fields[8])},
                   numbers[5],
                   numbers[6]});
  }
  return all;
}

}  // namespace loft::sample
