// Names and mappings of tasks, as the kernel tells them for an event that counts nothing: what a
// reader needs to turn addresses into functions. One ring per CPU.
//
//   LOFT_TRY(auto side_band, SideBand::of_machine(cpus, 512));   // everybody's
//   side_band.collect();                                         // out of the rings
//   side_band.hand_over(file, [&](std::uint32_t pid) { return is_ours(pid); });
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/cpu_set.hpp"
#include "base/result.hpp"
#include "source/perf_events/ring_buffer.hpp"
#include "source/scheduler/recording_file.hpp"
#include "source/scheduler/task_events.hpp"

namespace loft::source::scheduler {

class SideBand {
 public:
  // Needs CAP_PERFMON. Each CPU gets a ring of `pages`, or of what locked memory allows.
  [[nodiscard]] static Result<SideBand> of_machine(const CpuList& cpus, std::size_t pages);

  [[nodiscard]] std::vector<int> wake_fds() const;  // readable when a ring is a quarter full
  void collect();
  // Records of tasks that `is_wanted`, by their process; all others are forgotten.
  void hand_over(TaskEvents& events, const std::function<bool(std::uint32_t)>& is_wanted);

  // Whether the kernel has lost records since this was last asked: names and mappings may be
  // missing, of any process of the machine.
  [[nodiscard]] bool take_loss() { return std::exchange(has_lost_, false); }

  [[nodiscard]] const KernelEvent& event() const { return event_; }

 private:
  struct PerCpu {
    Fd fd;
    perf_events::RingBuffer ring;
  };
  KernelEvent event_;
  std::vector<PerCpu> cpus_;
  std::vector<std::byte> collected_;
  bool has_lost_ = false;
};

// What a process has mapped and how its threads are called, as of `time`; false when it is gone.
bool describe_process(pid_t pid, std::uint64_t time, TaskEvents& events);
// Where the kernel's own code is, if this user may know.
void describe_kernel(TaskEvents& events);

}  // namespace loft::source::scheduler
