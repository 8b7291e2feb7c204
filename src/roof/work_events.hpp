// The events of the virtual PMU that a roofline rests on, and the work that each of them stands
// for.
//
//   LOFT_TRY(const auto events, virtual_events(work_event_names()));
//   const WorkColumns columns(names);              // of the counts that come back
//   if (columns.are_complete()) columns.done_in(counts).work.flops();
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "event/event.hpp"
#include "model/roof_points.hpp"
#include "sample/count.hpp"

namespace loft::roof {

// What makes the engine slower than the machine.
struct EngineWork {
  double branches = 0;
  double searches = 0;  // branches whose target is not in the instruction

  // Its own time, in seconds, fitted to programs whose native time is known.
  [[nodiscard]] double seconds() const;
};

// `seconds` that a program took under the engine, without those that the engine took.
[[nodiscard]] double without_engine(double seconds, double engine_seconds);

// Beside the events of the work, what tells how control went on behind a block: for loops.
inline constexpr std::string_view kTakenEvent = "branches_taken";

struct Done {
  model::Work work;
  EngineWork engine;
};

// Names for --events, as the virtual PMU spells them: those of the work; with those of the engine
// and of loops.
[[nodiscard]] std::string work_event_names();
[[nodiscard]] std::string work_and_engine_event_names();

// The events behind such names.
[[nodiscard]] Result<std::vector<event::Event>> virtual_events(const std::string& names);

// Which column of a table of counts is which event.
class WorkColumns {
 public:
  // `names` are of the columns, with or without "virtual::"; others than those above do no harm.
  explicit WorkColumns(std::span<const std::string> names);

  // Whether each event of the work has a column.
  [[nodiscard]] bool are_complete() const { return is_complete_; }

  // The column of the instructions, where there is one.
  [[nodiscard]] std::optional<std::size_t> instructions() const { return instructions_; }

  // A row of counts, aligned with the names; columns that a short row lacks are 0.
  [[nodiscard]] Done done_in(std::span<const std::uint64_t> counts) const;

  // Nothing where a count is missing, but for that of the instructions, without which work is
  // still work.
  [[nodiscard]] std::optional<model::Work> work_in(std::span<const sample::Count> counts) const;

 private:
  std::vector<std::optional<std::size_t>> columns_;  // by event
  std::optional<std::size_t> instructions_;
  std::optional<std::size_t> int_ops_;  // absent in recordings of older versions
  bool is_complete_ = true;
};

}  // namespace loft::roof
