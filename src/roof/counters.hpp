// Work by counters of the machine: one native run, in which the events behind operations and bytes
// are counted, and sampled beside the time, so that functions and threads have their shares.
//
//   LOFT_TRY(const auto counters, WorkCounters::find(library, false));
//   LOFT_TRY(auto run, run_natively({.command = command, .events = counters.events()}));
//   ...
//   const CountedWork counted = counters.counted_in(native);
//
// Which events they are is said by the metrics FLOPs, bytes, DRAM_bytes and their companions
// (share/metrics/roofline.metrics), in the variant that this machine can count.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "event/event.hpp"
#include "metric/program.hpp"
#include "roof/native.hpp"

namespace loft::roof {

class WorkCounters {
 public:
  // Fails, with what is lacking, where operations or bytes cannot be counted. With `dram` the bytes
  // are those that memory moved.
  [[nodiscard]] static Result<WorkCounters> find(const metric::Library& library, bool dram);

  [[nodiscard]] const std::vector<event::Event>& events() const { return events_; }
  // What a reader of the numbers must know.
  [[nodiscard]] std::vector<std::string> notes() const;

  // What the run did: its total as counted, its threads and functions by their samples.
  [[nodiscard]] CountedWork counted_in(const NativeProfile& native) const;

  // The work that these counts stand for; nothing where one that it needs is missing.
  [[nodiscard]] std::optional<model::Work> work_in(const metric::CountSet& counts) const;

 private:
  [[nodiscard]] std::optional<double> value(const char* name, const metric::CountSet& counts) const;

  std::vector<event::Event> events_;
  std::map<std::string, metric::Program> programs_;
  bool dram_ = false;
};

}  // namespace loft::roof
