// Runs a program while calls of one of its functions are watched in one of several ways, and says
// how many were seen. What a call cost then, the program says itself.
//
//   bench_watch statistics|kept|counts|uprobes FUNCTION COMMAND...
//   bench_watch nested PARENT COMMAND...   the total of it, and of what is in it
//   bench_watch attach FUNCTION COMMAND... attaches 100 times while it runs, and leaves it again
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/child_process.hpp"
#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "source/calls/call_watch.hpp"
#include "source/calls/native.hpp"
#include "source/memory_ranges.hpp"
#include "symbols/elf_symbols.hpp"

namespace loft {
namespace {

Result<std::uint64_t> watch_natively(const std::string& way, const std::string& function,
                                     const std::vector<std::string>& command) {
  source::calls::NativeCalls calls;
  calls.request.patterns = {function};
  calls.request.keeps_calls = way == "kept";
  calls.request.only_counts = way == "counts";
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
        run.overhead_ns.value_or(0));
  return {};
}

// The code of the program as it is in its memory.
Result<std::string> code_of(pid_t pid, const std::string& binary) {
  LOFT_TRY(const auto ranges, source::mappings_of(pid));
  const Fd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::string code;
  for (const source::MemoryRange& range : ranges) {
    if (!range.is_code || range.path != binary) continue;
    std::string part(static_cast<std::size_t>(range.end - range.start), '\0');
    const ssize_t got =
        ::pread(memory.get(), part.data(), part.size(), static_cast<off_t>(range.start));
    if (got != static_cast<ssize_t>(part.size())) return failure_of_errno(errno, "read the code");
    code += part;
  }
  return code;
}

Result<void> attach_again_and_again(const std::string& function,
                                    const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure_of_errno(errno, "make a pipe");
  const Fd from(ends[0]);
  Fd to(ends[1]);
  LOFT_TRY(auto child, ChildProcess::prepare(command, {from.get(), -1, -1}));
  LOFT_CHECK(child.start());
  ::usleep(20'000);
  LOFT_TRY(const std::string before, code_of(child.pid(), command[0]));
  std::vector<double> held;
  std::uint64_t calls = 0;
  for (int i = 0; i < 100; ++i) {
    sample::CallRequest request;
    request.patterns = {function};
    source::calls::CallWatch watch(request);
    LOFT_CHECK(watch.attach(child.pid()));
    for (const Nanoseconds until = now() + std::chrono::milliseconds(10); now() < until;) {
      ::usleep(200);
      watch.drain();
    }
    LOFT_CHECK(watch.detach());
    if (watch.error()) return Failure(*watch.error());
    held.push_back(static_cast<double>(watch.held().count()) / 1e6);
    for (const auto& statistics : watch.take().statistics) calls += statistics.calls;
  }
  LOFT_TRY(const std::string after, code_of(child.pid(), command[0]));
  to = Fd();
  LOFT_TRY(const ProcessEnd end, child.wait());
  std::ranges::sort(held);
  fmt::print(
      "100 times: held {:.1f} ms (median), {:.1f} ms (most); {} calls seen; its code is {}; "
      "it ended with status {}\n",
      held[held.size() / 2], held.back(), calls,
      before == after && !before.empty() ? "what it was" : "CHANGED", end.shell_status());
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
  if (way == "nested" || way == "attach") {
    const auto shown = way == "nested" ? loft::show_nested(arguments[2], command)
                                       : loft::attach_again_and_again(arguments[2], command);
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
