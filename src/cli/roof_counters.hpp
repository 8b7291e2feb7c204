// A roofline from counters of the machine: one run, in which the events behind operations and bytes
// are counted, and sampled beside the time, so that functions and threads have their shares.
//
//   LOFT_TRY(const auto counters, WorkCounters::find(library, false));
//   run natively with counters.events(); then
//   LOFT_TRY(const auto counted, counters.counted_in(native));   // as run_counted() gives it
//
// Which events they are is said by the metrics FLOPs, bytes, DRAM_bytes and their companions
// (share/metrics/roofline.metrics), in the variant that this machine can count.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/roof_passes.hpp"
#include "event/event.hpp"
#include "metric/program.hpp"

namespace loft::cli {

class WorkCounters {
 public:
  // Fails, with what is lacking, where operations or bytes cannot be counted. With `dram` the bytes
  // are those that memory moved.
  [[nodiscard]] static Result<WorkCounters> find(const metric::Library& library, bool dram);

  [[nodiscard]] const std::vector<event::Event>& events() const { return events_; }
  // What a reader of the numbers must know.
  [[nodiscard]] std::vector<std::string> notes() const;

  // What the run did: its total as counted, its threads and functions by their samples.
  [[nodiscard]] sample::RunCounts counted_in(const NativePass& native) const;

 private:
  // The values of kRoofEvents.
  [[nodiscard]] std::vector<sample::Count> evaluate(const metric::CountSet& counts) const;
  [[nodiscard]] std::optional<double> value(const char* name, const metric::CountSet& counts) const;

  std::vector<event::Event> events_;
  std::map<std::string, metric::Program> programs_;
  bool dram_ = false;
};

}  // namespace loft::cli
