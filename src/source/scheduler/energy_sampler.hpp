// Energy beside the slices: every meter that this machine has, read once a round. No meter tells
// tasks apart; a view gives each its share.
#pragma once

#include <vector>

#include "base/clock.hpp"
#include "base/places.hpp"
#include "source/energy/meters.hpp"
#include "source/scheduler/recording_file.hpp"

namespace loft::source::scheduler {

class EnergySampler {
 public:
  // Those that can be read; none is no error.
  [[nodiscard]] static EnergySampler open(const SystemRoot& root = {});

  [[nodiscard]] std::vector<std::string> names() const;
  // What was used since the sample before; a meter that shows power is taken over that time.
  void sample(RecordingFile& file, Nanoseconds at);

 private:
  struct Tracked {
    energy::Meter meter;
    double last = 0;       // joules, or watts
    double remainder = 0;  // of a microjoule
  };
  std::vector<Tracked> meters_;
  Nanoseconds last_time_{};
};

}  // namespace loft::source::scheduler
