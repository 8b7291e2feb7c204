// A program run as it is, sampled for its time, and what its samples say.
//
//   LOFT_TRY(auto run, run_natively({.command = command}));
//   LOFT_TRY(auto recording, run.run->finish());
//   LOFT_TRY(const auto profile, profile_of(std::move(run.counts), std::move(recording)));
//   const Joined joined = join(profile.times(), counted);        // roof/join.hpp
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "roof/join.hpp"
#include "sample/address_profile.hpp"
#include "sample/counting.hpp"
#include "sample/named_profile.hpp"
#include "source/file/profile_recording.hpp"
#include "source/scheduler/sampled_run.hpp"

namespace loft::roof {

// A native run of a program, or a look at one that runs, with what was counted beside its time.
struct NativeRun {
  std::unique_ptr<source::scheduler::SampledRun> run;
  sample::RunCounts counts;
};
// `look`, where it is given, is called some ten times a second while the program runs.
[[nodiscard]] Result<NativeRun> run_natively(const source::scheduler::SampledRunRequest& request,
                                             const std::function<void(pid_t)>& look = {});

// How long it took, and where its time went.
struct NativeProfile {
  sample::RunCounts counts;  // the first event is task-clock
  std::unique_ptr<source::Recording> recording;
  source::ProfiledRecording profile;
  std::vector<sample::MetAddress> addresses;  // in user mode, by function
  std::uint64_t start = 0;                    // of the recording's clock

  [[nodiscard]] double cpu_seconds() const;
  [[nodiscard]] FunctionKey function(std::uint32_t id) const;
  [[nodiscard]] std::vector<model::ThreadName> threads() const;  // with their last names
  [[nodiscard]] NativeTimes times() const;
  // Who used the energy, by samples of its run time.
  [[nodiscard]] std::vector<model::FunctionEnergy> energy_of_functions() const;
  // For views of call stacks; it refers to this profile.
  [[nodiscard]] sample::NamedProfile named() const;
};
[[nodiscard]] Result<NativeProfile> profile_of(sample::RunCounts counts,
                                               std::unique_ptr<source::Recording> recording);

}  // namespace loft::roof
