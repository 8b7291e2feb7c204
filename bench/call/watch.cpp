// Runs a program while calls of one of its functions are watched in one of several ways, and says
// how many were seen. What a call cost then, the program says itself.
//
//   bench_watch statistics|kept|counts|uprobes FUNCTION COMMAND...
//   bench_watch nested PARENT COMMAND...   the total of it, and of what is in it
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/child_process.hpp"
#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "source/calls/native.hpp"
#include "symbols/elf_symbols.hpp"

namespace loft {
namespace {

Result<std::uint64_t> watch_natively(const std::string& way, const std::string& function,
                                     const std::vector<std::string>& command) {
  source::calls::NativeCalls calls;
  calls.request.patterns = {function};
  calls.request.keeps_calls = way == "kept";
  calls.only_counts = way == "counts";
  calls.command = command;
  LOFT_TRY(const sample::CallRun run, source::calls::watch_calls(calls));
  std::uint64_t sum = 0;
  for (const sample::CallStatistics& statistics : run.statistics) sum += statistics.calls;
  return sum;
}

Result<void> show_nested(const std::string& parent, const std::vector<std::string>& command) {
  source::calls::NativeCalls calls;
  calls.request.patterns = {parent, "nested_child"};
  calls.command = command;
  LOFT_TRY(const sample::CallRun run, source::calls::watch_calls(calls));
  for (std::size_t i = 0; i < run.functions.size(); ++i)
    fmt::print(
        "{}: total {:.0f}, self {:.0f}, p50 {:.0f} ns of {} calls; the clock takes {:.1f} ns of "
        "each\n",
        run.functions[i].name, run.in_unit(0, run.statistics[i].of[0].total),
        run.in_unit(0, run.statistics[i].of[0].self),
        run.statistics[i].of[0].percentile(0.5) * run.quantities[0].scale, run.statistics[i].calls,
        run.overhead_ns);
  return {};
}

// A probe of the kernel at a function's entry or its return, which counts and does nothing else.
Result<Fd> open_probe(pid_t pid, const std::string& binary, std::uint64_t offset, bool is_return) {
  LOFT_TRY(const std::string type, read_line("/sys/bus/event_source/devices/uprobe/type"));
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = static_cast<std::uint32_t>(parse_u64(type).value_or(0));
  attr.config = is_return ? 1 : 0;
  attr.config1 = reinterpret_cast<std::uint64_t>(binary.c_str());
  attr.config2 = offset;
  Fd fd(static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd.is_open()) return failure_of_errno(errno, "open a uprobe");
  return fd;
}

Result<std::uint64_t> watch_with_uprobes(const std::string& function,
                                         const std::vector<std::string>& command) {
  LOFT_TRY(const auto elf, symbols::ElfFile::open(command[0]));
  const auto address = symbols::address_of_symbol(*elf, function);
  if (!address) return failure(ErrorKind::not_found, "find the function", "no such symbol");
  std::uint64_t offset = *address;
  for (const symbols::ElfSegment& segment : elf->segments())
    if (segment.type == PT_LOAD && *address - segment.address < segment.file_size)
      offset = *address - segment.address + segment.offset;
  LOFT_TRY(auto child, ChildProcess::prepare(command));
  LOFT_TRY(const Fd entry, open_probe(child.pid(), command[0], offset, false));
  LOFT_TRY(const Fd exit, open_probe(child.pid(), command[0], offset, true));
  LOFT_CHECK(child.start());
  LOFT_CHECK(child.wait());
  std::uint64_t count = 0;
  if (::read(exit.get(), &count, sizeof count) != sizeof count)
    return failure_of_errno(errno, "read a uprobe");
  return count;
}

}  // namespace
}  // namespace loft

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const std::string way = arguments[1];
  const std::vector<std::string> command(arguments + 3, arguments + count);
  if (way == "nested") {
    const auto shown = loft::show_nested(arguments[2], command);
    if (!shown) fmt::print(stderr, "{}\n", to_string(shown.error()));
    return shown ? 0 : 125;
  }
  const auto seen = way == "uprobes" ? loft::watch_with_uprobes(arguments[2], command)
                                     : loft::watch_natively(way, arguments[2], command);
  if (!seen) {
    fmt::print(stderr, "{}\n", to_string(seen.error()));
    return 125;
  }
  fmt::print(stderr, "{} calls\n", *seen);
  return 0;
}
