// Two accounts of a program joined: how long its parts took, and what they did. The result is the
// run, its threads, its functions and its slices of time, ready to be placed under roofs.
//
//   const NativeTimes times = native.times();                  // roof/native.hpp
//   const Joined joined = join(times, counted_work(counts));
//   model::place(machine, joined.subjects);
//
// Nothing here knows a file, a process or a counter.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/roof_report.hpp"
#include "roof/counted_work.hpp"
#include "sample/active_time.hpp"

namespace loft::roof {

// What a native run says about time.
struct NativeTimes {
  std::string name;         // of the run
  double wall_seconds = 0;  // from its start to its end
  double cpu_seconds = 0;   // of all its threads, as the kernel counted it
  sample::ActiveTime active;
  std::map<std::uint32_t, FunctionKey> functions;  // by the numbers that `active` has
  std::vector<model::ThreadName> threads;          // all, in the order in which they were made
};

struct Joined {
  std::vector<model::Subject> subjects;
  std::vector<std::string> notes;  // facts that limit the trust in them
  bool is_short = false;           // too few samples to tell functions apart
};
[[nodiscard]] Joined join(const NativeTimes& times, const CountedWork& counted);

}  // namespace loft::roof
