#include "source/living_tasks.hpp"

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "source/memory_ranges.hpp"

namespace loft::source {
namespace {

constexpr std::uint64_t kIsKernelThread = 0x00200000;  // PF_KTHREAD

std::vector<std::string> names_in(const std::string& folder) {
  return list_directory(folder).value_or(std::vector<std::string>());
}

}  // namespace

std::optional<LivingTask> parse_task_stat(std::string_view line, pid_t pid) {
  // The name between the parentheses may hold anything, also parentheses.
  const auto name_start = line.find('(');
  const auto name_end = line.rfind(')');
  if (name_start == std::string_view::npos || name_end == std::string_view::npos ||
      name_end < name_start || name_end + 2 > line.size())
    return std::nullopt;
  const auto fields = split(line.substr(name_end + 2), ' ');
  constexpr std::size_t kParent = 1, kFlags = 6, kStart = 19, kCpu = 36;
  if (fields.size() <= kCpu) return std::nullopt;
  const auto tid = parse_u64(line.substr(0, line.find(' ')));
  const auto parent = parse_u64(fields[kParent]);
  const auto flags = parse_u64(fields[kFlags]);
  const auto start = parse_u64(fields[kStart]);
  const auto cpu = parse_u64(fields[kCpu]);
  if (!tid || !parent || !flags || !start || !cpu) return std::nullopt;
  return LivingTask{static_cast<pid_t>(*tid),
                    pid,
                    static_cast<pid_t>(*parent),
                    *start,
                    (*flags & kIsKernelThread) != 0,
                    std::string(line.substr(name_start + 1, name_end - name_start - 1)),
                    static_cast<std::uint32_t>(*cpu)};
}

std::optional<LivingTask> task_with(pid_t tid) {
  const auto status = read_file(fmt::format("/proc/{}/status", tid));
  if (!status) return std::nullopt;
  for (const std::string_view line : split(*status, '\n')) {
    if (!line.starts_with("Tgid:")) continue;
    const auto pid = parse_u64(trim(line.substr(5)));
    const auto stat = read_line(fmt::format("/proc/{}/stat", tid));
    if (!pid || !stat) return std::nullopt;
    return parse_task_stat(*stat, static_cast<pid_t>(*pid));
  }
  return std::nullopt;
}

std::vector<LivingTask> tasks_of(pid_t pid) {
  std::vector<LivingTask> tasks;
  const std::string folder = fmt::format("/proc/{}/task", pid);
  for (const std::string& thread : names_in(folder)) {
    const auto line = read_line(folder + "/" + thread + "/stat");
    if (!line) continue;
    if (auto task = parse_task_stat(*line, pid)) tasks.push_back(*std::move(task));
  }
  return tasks;
}

Result<std::vector<LivingTask>> threads_of(pid_t pid) {
  auto tasks = tasks_of(pid);
  if (tasks.empty())
    return failure(ErrorKind::not_found, fmt::format("watch process {}", pid),
                   "there is no such process", "it may have ended; 'pgrep -a NAME' finds others");
  return tasks;
}

std::vector<MappedCode> code_of(pid_t pid) {
  std::vector<MappedCode> code;
  for (MemoryRange& range : mappings_of(pid).value_or(std::vector<MemoryRange>()))
    if (range.is_code && !range.path.empty())
      code.push_back({range.start, range.end - range.start, range.offset, std::move(range.path)});
  return code;
}

std::vector<LivingTask> living_tasks() {
  std::vector<LivingTask> tasks;
  for (const std::string& process : names_in("/proc"))
    if (const auto pid = parse_u64(process))
      for (LivingTask& task : tasks_of(static_cast<pid_t>(*pid))) tasks.push_back(std::move(task));
  return tasks;
}

std::vector<pid_t> children_of(const LivingTask& task) {
  std::vector<pid_t> children;
  const auto line = read_line(fmt::format("/proc/{}/task/{}/children", task.pid, task.tid));
  if (!line) return children;
  for (const std::string_view number : split(trim(*line), ' '))
    if (const auto pid = parse_u64(number)) children.push_back(static_cast<pid_t>(*pid));
  return children;
}

std::optional<SchedulerSums> parse_schedstat(std::string_view line) {
  const auto fields = split(trim(line), ' ');
  if (fields.size() < 3) return std::nullopt;
  const auto run = parse_u64(fields[0]);
  const auto wait = parse_u64(fields[1]);
  const auto turns = parse_u64(fields[2]);
  if (!run || !wait || !turns) return std::nullopt;
  return SchedulerSums{*run, *wait, *turns};
}

std::optional<SchedulerSums> scheduler_sums(pid_t pid, pid_t tid) {
  const auto line = read_line(fmt::format("/proc/{}/task/{}/schedstat", pid, tid));
  return line ? parse_schedstat(*line) : std::nullopt;
}

}  // namespace loft::source
