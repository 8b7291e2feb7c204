// Energy beside the slices: every gauge that this machine has, read once in the length of a slice.
// None tells tasks apart; a view gives each its share.
#pragma once

#include <vector>

#include "source/energy/gauges.hpp"
#include "source/scheduler/recording_file.hpp"

namespace loft::source::scheduler {

class EnergySampler {
 public:
  [[nodiscard]] static EnergySampler open(const SystemRoot& root = {});

  [[nodiscard]] std::vector<std::string> names() const;
  // What was used since the sample before; gauges that are slow to read have a sample now and then.
  void sample(RecordingFile& file, Nanoseconds at);
  // What was used since then, of all.
  void finish(RecordingFile& file, Nanoseconds at);

 private:
  void put(std::size_t gauge, double joules, RecordingFile& file, Nanoseconds at);

  energy::Gauges gauges_;
  std::vector<double> remainders_;  // of a microjoule
};

}  // namespace loft::source::scheduler
