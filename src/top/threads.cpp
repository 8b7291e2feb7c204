#include "top/threads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::top {
namespace {

// The numbers among the names of a folder of /proc.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> numbers;
  const auto names = list_directory(folder);
  if (!names) return numbers;
  for (const std::string& name : *names)
    if (const auto number = parse_u64(name); number && *number < 1u << 30)
      numbers.push_back(static_cast<pid_t>(*number));
  return numbers;
}

double share(std::uint64_t before, std::uint64_t after, Nanoseconds elapsed) {
  return after <= before
             ? 0
             : static_cast<double>(after - before) / static_cast<double>(elapsed.count());
}

}  // namespace

void ThreadScan::update(Nanoseconds at) {
  const Nanoseconds elapsed = at - last_;
  std::map<pid_t, Seen> found;
  for (const pid_t pid : numbers_in("/proc"))
    for (const pid_t tid : numbers_in(fmt::format("/proc/{}/task", pid))) {
      const auto sums = source::scheduler_sums(pid, tid);
      if (!sums) continue;
      Seen& seen = found[tid] = {pid, *sums, 0, 0};
      const auto before = threads_.find(tid);
      if (before == threads_.end() || elapsed.count() <= 0) continue;
      seen.running = share(before->second.sums.run_ns, sums->run_ns, elapsed);
      seen.waiting = share(before->second.sums.wait_ns, sums->wait_ns, elapsed);
    }
  threads_ = std::move(found);
  last_ = at;
}

std::vector<BusyThread> ThreadScan::busiest(std::size_t most) const {
  std::vector<std::pair<pid_t, const Seen*>> order;
  for (const auto& [tid, seen] : threads_)
    if (seen.running + seen.waiting > 0) order.emplace_back(tid, &seen);
  const std::size_t count = std::min(most, order.size());
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(count), [](const auto& a, const auto& b) {
        return a.second->running + a.second->waiting > b.second->running + b.second->waiting;
      });
  std::vector<BusyThread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [tid, seen] = order[i];
    const auto task = source::task_with(tid);
    if (!task) continue;
    const auto place = read_line(fmt::format("/proc/{}/task/{}/wchan", seen->pid, tid));
    threads.push_back({seen->pid, tid, task->name, static_cast<int>(task->cpu), seen->running,
                       seen->waiting, place && *place != "0" ? *place : ""});
  }
  return threads;
}

}  // namespace loft::top
