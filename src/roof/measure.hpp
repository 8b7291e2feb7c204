// From a program to what it did and how long it took: in one run with counters of the machine, or
// in two with the virtual PMU.
//
//   LOFT_TRY(const auto measured, measure_twice({.command = {"./app"}}, machine));
//   const model::RoofReport report = report_of(measured, machine, {});       // roof/report.hpp
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/machine_model.hpp"
#include "roof/code.hpp"
#include "roof/counters.hpp"
#include "roof/kept_analysis.hpp"
#include "roof/native.hpp"
#include "roof/phases.hpp"
#include "roof/why.hpp"

namespace loft::roof {

// Which bytes are the work: those that the core loads and stores, also those between the levels of
// memory, or those of memory alone. The latter two come from a model, in a further run.
enum class BytesAt { core, levels, memory };

struct Target {
  std::vector<std::string> command;
  std::vector<pid_t> pids;  // these instead, which run already; the command only says how long
  unsigned most_runs = 1;   // so many runs at most, so that events need not share counters
  bool keep_going = false;  // even when its two runs end differently
  std::string file;         // where the recording of the native run stays; empty: nowhere
  BytesAt bytes = BytesAt::core;  // measure_twice() alone: counters say what they count
  // measure_twice() alone: told what begins after the native run, and how long that took.
  std::function<void(std::string_view doing, double native_seconds)> on_pass = {};
};

struct Measured {
  NativeProfile native;
  CountedWork counted;
  std::optional<Account> account;    // of the time that a model gives its functions and loops
  std::optional<Account> elsewhere;  // the same on another machine, where that was asked for
  std::vector<Phase> phases;         // of that time, as the program went on
  std::vector<source::virtual_pmu::WindowKeeper::Function> phase_functions;  // that they name
  CodeByFunction code;  // that ran; nothing where the virtual PMU did not count
  KeptAnalysis kept;    // of a recording, in the place of account and code
};

// A program that fails, or that somebody ends, is measured up to there; what is then not known is
// missing. The recording, where it is to stay, carries the work and the machine's roofs
// (roof/run_file.hpp).
[[nodiscard]] Result<Measured> measure_by_counters(const Target& target,
                                                   const WorkCounters& counters,
                                                   const model::Machine& machine);
// With `other` it runs once more, for what the caches of that machine would do.
[[nodiscard]] Result<Measured> measure_twice(const Target& target, const model::Machine& machine,
                                             const model::Machine* other = nullptr);

// A status as a shell tells it, in words: "139 (killed by SIGSEGV)".
[[nodiscard]] std::string status_words(int status);

}  // namespace loft::roof
