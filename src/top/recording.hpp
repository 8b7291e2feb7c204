// Samples of cores as a perf.data, in which each core is a thread: `loft report --threads` shows
// them beside each other and over time, with the energy of every meter.
//
//   CoreRecording recording("cores.data", "loft 1.0", {"loft", "top"});
//   LOFT_CHECK(recording.add(frame));     // the first one says which events there are
//   LOFT_CHECK(recording.finish());
//
// A sample of a core is a slice of its thread. The run time of the slice is the time in which the
// core was busy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "source/scheduler/recording_file.hpp"
#include "top/frame.hpp"

namespace loft::top {

class CoreRecording {
 public:
  CoreRecording(std::string path, std::string version, std::vector<std::string> command_line)
      : path_(std::move(path)),
        version_(std::move(version)),
        command_line_(std::move(command_line)) {}

  // Events and meters are those of the first sample. What is recorded of it survives whatever
  // happens to loft.
  [[nodiscard]] Result<void> add(const Frame& frame);
  [[nodiscard]] Result<void> finish();

 private:
  [[nodiscard]] Result<void> create(const Frame& frame);
  void add_core(const CoreSample& core, Nanoseconds origin);
  void add_energy(const Frame& frame);

  std::string path_;
  std::string version_;
  std::vector<std::string> command_line_;
  std::unique_ptr<source::scheduler::RecordingFile> file_;
  std::vector<std::string> events_;  // in the order of a slice's counts
  std::size_t always_ = 0;           // the first so many need no counter; each other is a set
  std::vector<double> remainders_;   // of a microjoule, by meter
  bool has_ticks_ = false;           // run times are estimates
  Nanoseconds first_{};
  Nanoseconds last_{};
};

}  // namespace loft::top
