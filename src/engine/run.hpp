// A program under the engine, seen from loft.
//
//   LOFT_TRY(auto run, engine::Run::prepare({"./app", "input"}));
//   LOFT_CHECK(run.start());
//   ... run.shared().counts(slot) at any time ...
//   LOFT_TRY(const auto end, run.wait());     // an error when the engine had to give up
//
// Everything that was counted stays readable until the Run goes, however the program ended.
#pragma once

#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/result.hpp"
#include "engine/shared.hpp"

namespace loft::engine {

class Run {
 public:
  // Finds the program (in PATH, as a shell does) and the engine, and stops before either runs.
  [[nodiscard]] static Result<Run> prepare(const std::vector<std::string>& command,
                                           StandardStreams streams = {});

  [[nodiscard]] Result<void> start() { return child_.start(); }
  // The program's end. A program that the engine could not run to its end is an error that says
  // why.
  [[nodiscard]] Result<ProcessEnd> wait();
  // The error of wait(), for callers that wait for child() themselves.
  [[nodiscard]] Result<void> check() const;
  // Whether anything was counted at all, of all processes. What was is exact, also where check()
  // fails: then a process of the run was ended early.
  [[nodiscard]] Result<void> check_started() const;
  void signal(int number) const { child_.signal(number); }

  [[nodiscard]] ChildProcess& child() { return child_; }
  [[nodiscard]] pid_t pid() const { return child_.pid(); }
  [[nodiscard]] const Shared& shared() const { return shared_; }
  [[nodiscard]] Shared& shared() { return shared_; }
  [[nodiscard]] Nanoseconds start_time() const { return child_.start_time(); }

 private:
  [[nodiscard]] Failure refusal(std::string hint) const;
  Run(Shared shared, ChildProcess child, std::string name)
      : shared_(std::move(shared)), child_(std::move(child)), name_(std::move(name)) {}

  Shared shared_;
  ChildProcess child_;
  std::string name_;
};

// The engine's executable: $LOFT_ENGINE, beside loft, or where it was installed.
[[nodiscard]] Result<std::string> find_engine();

}  // namespace loft::engine
