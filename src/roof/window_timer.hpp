// Times windows by instruction and remembers it: functions, loops of each depth and slices of time
// are different sums of the same cycles.
//
//   WindowTimer timer(core);
//   const auto& cycles = timer.cycles(kept, {.without = {Cause::tlb}});
//   cycles[i]                          // of the window's instruction i
//
// Windows are told apart by KeptWindow::number, whatever their blocks are called.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "core/timing.hpp"
#include "source/virtual/windows.hpp"

namespace loft::roof {

class WindowTimer {
 public:
  struct Scenario {
    std::vector<core::Cause> without;
    core::Unknown unknown = core::Unknown::as_modelled;
    bool relearns = false;  // as core::Scenario has it
    // A parameter of the core, times a factor; none where it has no name.
    std::string parameter;
    double factor = 1;
    auto operator<=>(const Scenario&) const = default;
  };

  // The parameters, and all windows, have passed check().
  explicit WindowTimer(const core::CoreParameters& core) : core_(core) {}

  [[nodiscard]] const core::CoreParameters& core() const { return core_; }
  // Nothing where no core can have the parameter that the scenario asks for.
  [[nodiscard]] const std::vector<float>* find(const source::virtual_pmu::KeptWindow& kept,
                                               const Scenario& scenario);
  // Of a scenario with the parameters as they are.
  [[nodiscard]] const std::vector<float>& cycles(const source::virtual_pmu::KeptWindow& kept,
                                                 const Scenario& scenario) {
    return *find(kept, scenario);
  }

 private:
  // A window that was timed lately, and what times it: most scenarios are asked for a few windows
  // in turns, and setting up a timer's memory takes as long as a run of it.
  struct Prepared {
    std::size_t number = 0;
    core::Window window;  // each instruction is a block of its own
    std::string parameter;
    double factor = 1;
    core::CoreParameters core;
    std::optional<core::Timer> timer;
  };

  [[nodiscard]] std::optional<core::CoreParameters> moved(const Scenario& scenario) const;
  Prepared& prepared(const source::virtual_pmu::KeptWindow& kept);
  // Nothing where no core can have the parameter.
  [[nodiscard]] core::Timer* timer_for(const source::virtual_pmu::KeptWindow& kept,
                                       const Scenario& scenario);

  core::CoreParameters core_;
  static constexpr std::size_t kPrepared = 4;
  std::vector<std::unique_ptr<Prepared>> prepared_;  // the first is replaced next
  std::map<std::size_t, std::map<Scenario, std::vector<float>>> timed_;  // by window
};

}  // namespace loft::roof
