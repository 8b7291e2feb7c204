// Call stacks beside the slices: where each thread is, so many times a second of its run time, with
// the way that led there. The kernel writes the samples; they go into the recording as they are.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/cpu_set.hpp"
#include "base/result.hpp"
#include "source/perf_events/open.hpp"
#include "source/perf_events/ring_buffer.hpp"
#include "source/scheduler/recording_file.hpp"

namespace loft::source::scheduler {

enum class StackMode {
  none,
  frame_pointers,  // walked by the kernel
  dwarf,           // registers and a copy of the stack, walked later
};

struct SamplerPlan {
  std::uint64_t frequency_hz = 0;
  std::vector<event::Event> events;  // these instead of the clock, each after every `period` counts
  std::uint64_t period = 0;
  std::size_t ring_bytes = 0;  // 0: as is usual
  StackMode stacks = StackMode::none;
  std::vector<pid_t> tasks;  // and all that they start
  bool from_exec = false;
};

class StackSampler {
 public:
  // The events of the plan. Without any: cycles where there is a counter for them, else a clock.
  [[nodiscard]] static Result<StackSampler> open(const SamplerPlan& plan);

  void drain(TaskEvents& events);
  [[nodiscard]] const std::vector<KernelEvent>& events() const { return events_; }
  [[nodiscard]] std::vector<int> wake_fds() const;
  [[nodiscard]] bool lacks_kernel() const { return lacks_kernel_; }

 private:
  // One task on one CPU.
  struct Post {
    std::vector<Fd> fds;  // by event; the first owns the ring
    perf_events::RingBuffer ring;
  };
  [[nodiscard]] Result<void> choose(const SamplerPlan& plan,
                                    const std::vector<event::Event>& candidates, int cpu);
  [[nodiscard]] Result<void> open_post(perf_events::Place place, std::size_t pages);

  std::vector<event::Event> chosen_;
  std::vector<KernelEvent> events_;  // aligned with it
  std::vector<Post> posts_;
  bool lacks_kernel_ = false;
};

}  // namespace loft::source::scheduler
