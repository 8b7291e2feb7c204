// What a machine gives while others use it too. Neighbours evict lines from a shared cache and take
// bandwidth of memory and turns of the core: then it is not what `loft machine` found at its best.
//
//   LOFT_TRY(auto probe, ConditionsProbe::make(machine));
//   probe.look_at_l3();
//   while (running) probe.look_beside(static_cast<pid_t>(pid));     // some ten times a second
//   probe.look_at_l3();
//   const core::CoreParameters then = under(probe.conditions(), core);  // for a model of that run
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.hpp"
#include "core/parameters.hpp"
#include "machine/buffer.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

// The parameter of a machine file that has best_stream() of a measurement.
inline constexpr const char* kStreamProbe = "stream_probe_bytes_per_cycle";

// In cycles of the core. Nothing: not known.
struct Conditions {
  std::optional<double> l3_latency, dram_latency;
  // Of what a short stream from memory, and additions, can reach, that which they did.
  std::optional<double> dram_share;
  std::optional<double> core_share;
};

// The parameters of a core with what was met in place of what is better.
[[nodiscard]] core::CoreParameters under(const Conditions& met, const core::CoreParameters& core);

// What was at least a third worse than the parameters say, in words: "L3 took 310 cycles instead of
// 48". Empty: nothing was.
[[nodiscard]] std::string describe(const Conditions& met, const core::CoreParameters& core);

class ConditionsProbe {
 public:
  [[nodiscard]] static Result<ConditionsProbe> make(const model::Machine& machine);

  // Walks through a ring in L3: some milliseconds.
  void look_at_l3();
  // On the CPU of one of the threads that a process has: some 50 us of what it could have run.
  void look_beside(pid_t process);

  // The mean of all looks.
  [[nodiscard]] Conditions conditions() const;
  // What the quickest of its streams from memory reached, in bytes a cycle; 0: there was none.
  [[nodiscard]] double best_stream() const { return best_stream_; }

 private:
  // A sum of times of this thread, so that being preempted does not count.
  struct Sum {
    double cycles = 0;
    double count = 0;  // of links, bytes or additions
    [[nodiscard]] std::optional<double> cycles_each() const {
      return count > 0 && cycles > 0 ? std::optional(cycles / count) : std::nullopt;
    }
  };

  ConditionsProbe() = default;
  void look_at_memory();
  void look_at_core();

  double frequency_ = 0;
  double adds_per_cycle_ = 0;  // of a core alone; 0: not known
  double stream_ = 0;          // bytes a cycle of a stream on a quiet machine; 0: not known
  double best_stream_ = 0;
  std::size_t l3_nodes_ = 0;  // 0: there is no L3
  Buffer l3_, memory_;
  const std::byte* in_memory_ = nullptr;  // where the walk through memory goes on
  unsigned looks_ = 0;
  Sum l3_latency_, dram_latency_, dram_bytes_, adds_;
};

}  // namespace loft::machine
