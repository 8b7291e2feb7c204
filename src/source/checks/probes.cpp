#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "source/checks/checks.hpp"
#include "source/checks/trial.hpp"
#include "source/perf_events/open.hpp"

namespace loft::source::checks {
namespace {

using Status = Check::Status;

// What is probed: a function of our own.
[[gnu::noinline]] void probed() { asm volatile("" ::: "memory"); }

// Where the function lies in the program's file, by the mapping that holds it.
Result<std::uint64_t> file_offset_of(std::uintptr_t address) {
  LOFT_TRY(const std::string maps, read_file("/proc/self/maps"));
  for (const std::string_view line : split(maps, '\n')) {
    // start-end permissions offset ...
    const auto words = split(line, ' ');
    const auto dash = line.find('-');
    if (words.size() < 3 || dash == std::string_view::npos) continue;
    const auto start = parse_hex(line.substr(0, dash));
    const auto end = parse_hex(words[0].substr(dash + 1));
    const auto offset = parse_hex(words[2]);
    if (start && end && offset && *start <= address && address < *end)
      return address - *start + *offset;
  }
  return failure(ErrorKind::internal, "find a function of loft", "it is in no mapping");
}

Result<std::uint64_t> count_calls(const SystemRoot& root) {
  LOFT_TRY(const auto type, read_line(root.at("/sys/bus/event_source/devices/uprobe/type")));
  LOFT_TRY(const auto offset, file_offset_of(reinterpret_cast<std::uintptr_t>(&probed)));
  static constexpr char kProgram[] = "/proc/self/exe";
  event::Event event = numbered("uprobe", "uprobe",
                                static_cast<std::uint32_t>(parse_u64(trim(type)).value_or(0)), 0);
  event.encoding.config1 = reinterpret_cast<std::uintptr_t>(kProgram);
  event.encoding.config2 = offset;
  LOFT_TRY(const auto reading, count_during(event, [] {
             for (int i = 0; i < 3; ++i) probed();
           }));
  return reading.value;
}

}  // namespace

std::vector<Check> probes(const SystemRoot& root) {
  const std::string title = "probes on functions (uprobes)";
  const auto calls = count_calls(root);
  if (!calls) return {{"uprobes", title, Status::missing, calls.error().why, calls.error().hint}};
  if (*calls != 3)
    return {{"uprobes", title, Status::missing, fmt::format("three calls were seen as {}", *calls),
             ""}};
  return {{"uprobes", title, Status::ok, "calls of a function are counted", ""}};
}

}  // namespace loft::source::checks
