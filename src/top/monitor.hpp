// Samples all cores at a steady pace: asks the readers, gathers their answers, adds the kernel's
// accounts, energy and its own cost. The monitor sleeps in between, on a core of its own choice.
//
//   LOFT_TRY(auto monitor, Monitor::start({.cores = {0, 1}, .interval = interval}, request));
//   LOFT_CHECK(monitor.run({.samples = 10, .on_frame = show_frame}));
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/cpu_set.hpp"
#include "source/energy/gauges.hpp"
#include "source/supervisor.hpp"
#include "top/accounts.hpp"
#include "top/core.hpp"

namespace loft::top {

using OpenOnCore = std::function<Result<CoreSet>(metric::Request, int cpu)>;

struct MonitorOptions {
  CpuList cores;
  int cpu = -1;  // where the monitor itself runs; -1: on the last of the cores
  Nanoseconds interval = std::chrono::seconds(1);
  Nanoseconds first{0};                         // until the first sample; 0: an interval, too
  Nanoseconds retry = std::chrono::seconds(1);  // between looks at a core that is off
  OpenOnCore open = open_on_core;
  SystemRoot root;
};

struct RunOptions {
  std::uint64_t samples = 0;  // 0: until a signal comes
  // Whether to go on.
  std::function<bool(const Frame&)> on_frame;
  // Before each sample is asked for: the moment to change what cores count.
  std::function<void()> at_boundary = [] {};
  // Whenever something has happened, a signal included.
  std::function<void()> after_wait = [] {};
  // Descriptors to wait for meanwhile, and what to do when they are readable.
  std::vector<std::pair<int, std::function<void()>>> readable = {};
};

class Monitor {
 public:
  // Counts `request` on every core. A core that cannot be watched now is tried again later.
  [[nodiscard]] static Result<Monitor> start(MonitorOptions options,
                                             const metric::Request& request);

  // From the next boundary on the core counts these. An error leaves it as it is.
  [[nodiscard]] Result<void> change(int cpu, metric::Request request);
  [[nodiscard]] const CpuList& cores() const { return options_.cores; }
  // Takes effect at the next boundary.
  void set_interval(Nanoseconds interval);
  [[nodiscard]] Nanoseconds interval() const { return options_.interval; }
  // Ends run() after the frame at hand.
  void stop() { is_stopped_ = true; }

  [[nodiscard]] Result<void> run(const RunOptions& options);

 private:
  struct Watched {
    Core core;
    metric::Request wanted;
    Nanoseconds next_try{};
  };

  struct Metered {
    double joules = 0;  // so far
    std::optional<double> watts;
  };

  explicit Monitor(MonitorOptions options);
  void ask();
  void revive(Watched& watched, Nanoseconds at);
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] Frame collect();
  void add_energy(Frame& frame, Nanoseconds at);
  void add_cost(Frame& frame, Nanoseconds at);
  [[nodiscard]] Result<void> set_pace();
  [[nodiscard]] bool end_sample(const RunOptions& options);

  MonitorOptions options_;
  std::unique_ptr<Gate> gate_;
  Fd timer_;
  std::vector<Watched> cores_;
  CpuAccounts accounts_;
  source::energy::Gauges gauges_;
  std::vector<std::string> domains_;  // names of the gauges, each once
  std::vector<Metered> metered_;      // by gauge
  Nanoseconds origin_{};
  Nanoseconds due_{};
  Nanoseconds last_time_{};
  Nanoseconds last_used_{};
  Nanoseconds last_own_{};
  std::uint64_t number_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t skipped_ = 0;
  bool is_asked_ = false;
  bool is_stopped_ = false;
  bool has_new_pace_ = true;
};

}  // namespace loft::top
