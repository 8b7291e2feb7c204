// Functions that alternate so quickly that their instructions are in the core together. Neither a
// sample nor a model can say whose a cycle is then; of all of them together both can.
//
//   const Alternating groups(windows, functions, 320);
//   groups.of({"area", "/tmp/app"})                 // with all that it alternates with; or nobody
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "model/verdict.hpp"
#include "roof/counted_work.hpp"
#include "source/virtual/windows.hpp"

namespace loft::roof {

class Alternating {
 public:
  Alternating() = default;
  // A function alternates with others if on the average fewer than `reorder_window` of its
  // instructions follow each other.
  Alternating(const std::vector<source::virtual_pmu::KeptWindow>& windows,
              const std::vector<source::virtual_pmu::WindowedFunction>& functions,
              double reorder_window);

  // All functions of its group, itself included; nobody if it does not alternate.
  [[nodiscard]] const std::vector<FunctionKey>* of(const FunctionKey& function) const;

 private:
  std::vector<std::vector<FunctionKey>> groups_;
  std::map<FunctionKey, std::size_t> group_of_;
};

// What was measured of a function, in all.
struct MeasuredFunction {
  double cycles = 0;
  double instructions = 0;
};
// Judges a group as one: each function as often as it was executed. Nothing where a tenth of its
// time is in functions that no window met. A cause that is not the strongest one of functions with
// most of the modelled time is none of the group: that is unclear.
[[nodiscard]] std::optional<model::Why> judge_together(
    const std::vector<FunctionKey>& group, const std::map<FunctionKey, model::TimedPart>& parts,
    const std::map<FunctionKey, MeasuredFunction>& measured);

}  // namespace loft::roof
