// Where kernels run: threads on their CPUs, memory for each of them, and windows of about
// a millisecond, each between two runs of a chain of additions that tells how long a cycle was.
//
//   LOFT_TRY(const auto bench, Workbench::make({0, 1}, 64 << 20));
//   LOFT_TRY(auto trial, bench->prepare({.kernel = kernel, .work = 16, .members = {0, 1}}));
//   bench->run_round(trial, 20, 1e-3);
//   trial.estimate.best()   // work per tick
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/places.hpp"
#include "base/result.hpp"
#include "machine/buffer.hpp"
#include "machine/emit.hpp"
#include "machine/estimate.hpp"
#include "machine/team.hpp"

namespace loft::machine {

struct TrialSetup {
  Kernel kernel;
  double work = 0;              // what one trip does: operations, bytes, links
  std::vector<int> members{0};  // who runs it: positions in the list of CPUs
  std::size_t bytes = 0;        // working set of one thread; 0 for kernels without memory
  // Where the streams of a kernel without strides start; the last stands for those after it. A
  // chase goes on there in the next round, so that it does not meet its own lines in a cache.
  std::vector<std::byte*> starts = {};
  std::uint64_t warm_trips = 0;  // that bring the working set into the caches before a window
  std::uint64_t p = 1, q = 0, r = 0;
  std::uint64_t first_integer = 0;
};

// One thing to measure, with all its windows so far.
struct Trial {
  TrialSetup setup;
  Code code;
  Estimate estimate;           // work per tick, all threads together
  double cycles_per_tick = 0;  // best calibration seen around its windows
  std::vector<double> clocks;  // the better calibration of each window, in cycles per tick
  std::uint64_t trips = 1;     // per window
  std::size_t span = 0;        // of each stream
  int rounds = 0;
};

class Workbench {
 public:
  ~Workbench();

  // `memory` bytes for the first CPU and half of that for each other, touched by their own threads.
  [[nodiscard]] static Result<std::unique_ptr<Workbench>> make(const CpuList& cpus,
                                                               std::size_t memory,
                                                               const SystemRoot& root = {});

  // Assembles the kernel and checks that it does what it says.
  [[nodiscard]] Result<Trial> prepare(TrialSetup setup) const;

  // At least `windows` windows that nothing disturbed, or three times as many in all.
  void run_round(Trial& trial, int windows, double window_seconds);

  [[nodiscard]] Team& team() { return team_; }
  [[nodiscard]] double ticks_per_second() const { return ticks_per_second_; }
  // The best that any calibration showed.
  [[nodiscard]] double cycles_per_tick() const { return cycles_per_tick_; }
  // The clock of a trial, in cycles per tick. Where its own calibrations fell a little short of the
  // best of all, that was noise; where many of them fell equally far short, its instructions lower
  // the clock.
  [[nodiscard]] double clock_of(const Trial& trial) const;
  // Windows so far, and those among them that were disturbed.
  [[nodiscard]] long windows() const { return windows_; }
  [[nodiscard]] long disturbed() const { return disturbed_; }
  [[nodiscard]] double huge_share() const;

 private:
  struct Seat;    // what belongs to one thread
  struct Window;  // what one thread saw of one window

  Workbench(const CpuList& cpus, SystemRoot root, Code calibration);
  void seat_arguments(const Trial& trial, int member);
  void choose_trips(Trial& trial, double window_ticks);
  void run_windows(Trial& trial, int count);
  void judge(Trial& trial, int count, bool stolen);
  [[nodiscard]] std::uint64_t stolen_time(const std::vector<int>& members) const;

  SystemRoot root_;
  Team team_;
  Code calibration_;
  std::vector<std::unique_ptr<Seat>> seats_;
  double overhead_ = 0;  // ticks that a calibration takes beside its chain
  double ticks_per_second_ = 0;
  double cycles_per_tick_ = 0;
  long windows_ = 0;
  long disturbed_ = 0;
};

}  // namespace loft::machine
