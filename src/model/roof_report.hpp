// One run under the roofs of a machine, with everything that a reader of its numbers must know:
// what src/roof makes and views show.
#pragma once

#include <string>
#include <vector>

#include "model/annotation.hpp"
#include "model/roof_points.hpp"
#include "sample/counting.hpp"
#include "sample/run_slice.hpp"

namespace loft::model {

struct ThreadName {
  std::uint32_t tid = 0;
  std::string name;
  std::string node = {};  // where it is no thread, but a rank of a job: `tid` is its number
};

// The share of a function in the energy of each meter: modelled (sample/energy_share.hpp).
struct FunctionEnergy {
  std::string name;
  std::string binary;
  std::vector<double> joules;  // aligned with RoofReport::energy; 0 of a GPU, which runs none of it
};

// A stretch of the run in which one cause holds, by windows of the model: what the model says
// alone.
struct RoofPhase {
  std::string function;  // empty: the whole run
  std::string binary;
  double start = 0;  // seconds since the start of the run
  double end = 0;
  std::size_t windows = 0;
  Why why;
};

struct RoofReport {
  std::string label;  // which of several runs; empty when there is one
  std::vector<std::string> command;
  int exit_status = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;
  std::size_t threads = 0;
  std::string counts_from;         // "virtual PMU, exact"
  bool time_is_estimated = false;  // else measured, in a native run
  double least_loop = 0.1;         // loops that take a smaller share of the time are left out
                                   // where room is short
  std::string machine_identity;
  std::vector<sample::EnergyUsed> energy;       // of the whole machine, while the native run lasted
  std::vector<FunctionEnergy> function_energy;  // most of the first meter first
  std::vector<std::string> notes;               // what a reader of the numbers must know
  RoofChart chart;
  bool shows_what_if = false;     // the table of gains was asked for
  std::vector<RoofPhase> phases;  // of the run and of functions whose cause changes; by time each
  std::vector<AnnotatedFunction> code;  // of functions that take much of the time; where asked for
  std::string advice;                   // what the numbers prove; empty where they prove nothing
  // When each thread ran, by a clock that showed `start_time` when the run began.
  std::vector<sample::RunSlice> schedule;
  std::uint64_t start_time = 0;
  std::vector<ThreadName> thread_names;

  // What its subjects of scope `thread` are, for people.
  [[nodiscard]] const char* task_word() const {
    return !thread_names.empty() && !thread_names.front().node.empty() ? "rank" : "thread";
  }

  [[nodiscard]] const char* time_from() const {
    return time_is_estimated ? "estimated" : "native run";
  }
};

}  // namespace loft::model
