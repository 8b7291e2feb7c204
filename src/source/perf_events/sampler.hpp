// Where threads are: the kernel notes it after every so many counts of an event, and loft drains
// the notes as records. There is one ring per CPU, which all tasks and events share.
//
//   SamplerPlan plan;
//   plan.events = {{.candidates = clocks(), .frequency_hz = 999}};
//   plan.tasks = {pid};
//   LOFT_TRY(auto sampler, Sampler::open(plan));
//   LOFT_CHECK(sampler.start());
//   sampler.drain([&](std::span<const std::byte> record) { file.take_raw(record); });
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "base/cpu_set.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "sample/count.hpp"
#include "source/perf_events/kernel_event.hpp"
#include "source/perf_events/open.hpp"
#include "source/perf_events/ring_buffer.hpp"

namespace loft::source::perf_events {

enum class StackMode {
  none,
  frame_pointers,       // walked by the kernel
  user_frame_pointers,  // likewise, without the kernel's own frames
  dwarf,                // registers and a copy of the stack, walked later
};

// An event, and how often it is sampled.
struct SampledEvent {
  // The first that this machine and this user can sample, each also tried in user mode alone.
  std::vector<event::Event> candidates;
  std::uint64_t period = 0;        // after every so many counts
  std::uint64_t frequency_hz = 0;  // without a period: so many times in a second of run time
  bool needs_kernel = false;       // it happens there: in user mode alone there would be nothing
  bool has_period_field = false;   // each sample holds its period, though it is fixed
};

// What stands for the time that a thread runs, the best first: cycles, else a clock.
[[nodiscard]] std::vector<event::Event> clocks();

struct SamplerPlan {
  std::vector<SampledEvent> events;
  StackMode stacks = StackMode::none;
  std::vector<pid_t> tasks;  // and all that they start; {-1}: everything on the machine
  bool from_exec = false;    // of a program that is held until it is started
  // Names, mappings, births and ends of tasks come with the first event; switches too, but for the
  // whole machine, where every switch of everybody would be slower.
  bool with_tasks = false;
  bool with_counts = false;    // count() is asked for
  std::size_t ring_bytes = 0;  // 0: as is usual
};

class Sampler {
 public:
  [[nodiscard]] static Result<Sampler> open(const SamplerPlan& plan);

  // Tasks that run already are sampled from here on; a held program from its exec.
  [[nodiscard]] Result<void> start();

  template <class Visitor>
  void drain(Visitor&& visit) {
    for (PerCpu& cpu : cpus_) cpu.ring.drain(visit);
  }

  // Those of the plan, in its order, as they were opened.
  [[nodiscard]] const std::vector<KernelEvent>& events() const { return events_; }
  [[nodiscard]] std::vector<int> wake_fds() const;
  [[nodiscard]] bool lacks_kernel() const { return lacks_kernel_; }

  // All counts of an event so far, over all tasks.
  [[nodiscard]] Result<sample::Count> count(std::size_t event) const;

 private:
  // One task on one CPU.
  struct Post {
    pid_t task = 0;
    std::vector<Fd> fds;  // by event
  };
  struct PerCpu {
    std::vector<Post> posts;  // the first event of the first owns the ring
    RingBuffer ring;
  };
  [[nodiscard]] Result<void> choose(const SamplerPlan& plan, const SampledEvent& sampled, int cpu);
  [[nodiscard]] Result<Post> open_post(Place place, bool may_have_ended);
  [[nodiscard]] Result<PerCpu> open_cpu(const SamplerPlan& plan, int cpu, std::size_t pages);

  std::vector<event::Event> chosen_;
  std::vector<KernelEvent> events_;  // aligned with it
  std::vector<PerCpu> cpus_;
  bool lacks_kernel_ = false;
  bool from_exec_ = false;
};

}  // namespace loft::source::perf_events
