#include "source/perf_events/places.hpp"

#include "source/living_tasks.hpp"

namespace loft::source::perf_events {
Result<CpuList> cpus_of(const CountRequest& request) {
  LOFT_TRY(const CpuList online, online_cpus());
  if (request.cpus.empty()) return online;
  for (const int cpu : request.cpus)
    if (std::find(online.begin(), online.end(), cpu) == online.end())
      return failure(ErrorKind::invalid_input, "count on cpu " + std::to_string(cpu),
                     "it is not online", "CPUs online here: " + format_cpu_list(online));
  return request.cpus;
}

Result<std::vector<TaskPlace>> places_of(const CountRequest& request, pid_t child) {
  std::vector<TaskPlace> tasks;
  if (request.whole_machine) {
    tasks.push_back({{-1, -1}, 0, {}});
  } else if (!request.pids.empty()) {
    for (const pid_t pid : request.pids) {
      LOFT_TRY(const auto threads, threads_of(pid));
      for (const LivingTask& thread : threads)
        tasks.push_back({{thread.tid, -1}, pid, thread.name});
    }
  } else {
    tasks.push_back({{child, -1}, child, {}});
  }

  // Rings for the threads of a program must belong to one CPU each; so does what is split by CPU.
  const bool program_by_thread = request.split == Split::threads && request.pids.empty();
  if (!request.whole_machine && request.split != Split::cpus && !program_by_thread) return tasks;
  LOFT_TRY(const CpuList cpus, cpus_of(request));
  std::vector<TaskPlace> places;
  for (const TaskPlace& task : tasks)
    for (const int cpu : cpus) places.push_back({{task.place.pid, cpu}, task.pid, task.comm});
  return places;
}

}  // namespace loft::source::perf_events
