// Samples for Prometheus and its kin: sums since monitoring began, and what the last sample said.
//
//   Exposition exposition;
//   exposition.add(frame);                       // every sample
//   exposition.text(ExpositionFormat::openmetrics)
//
// Series are bounded: by cores, by the events that they count now, and by a limit. None is labelled
// with a process or thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "top/frame.hpp"

namespace loft::top {

enum class ExpositionFormat {
  openmetrics,  // application/openmetrics-text; version=1.0.0
  prometheus,   // text/plain; version=0.0.4
};

[[nodiscard]] std::string content_type(ExpositionFormat format);
// What a client asks for in its Accept header.
[[nodiscard]] ExpositionFormat format_for(const std::string& accept);

class Exposition {
 public:
  explicit Exposition(std::size_t most_series = 20'000) : most_series_(most_series) {}

  void add(const Frame& frame);
  [[nodiscard]] std::string text(ExpositionFormat format) const;

 private:
  struct EventSum {
    double value = 0;
    double running = 1;  // share of the last sample in which it had a counter
    bool is_available = false;
  };
  using EventKey = std::pair<int, std::string>;  // CPU and name
  void add_core(const CoreSample& core);

  std::size_t most_series_;
  Frame last_;
  std::uint64_t samples_ = 0;
  std::map<EventKey, EventSum> events_;  // those of the last sample alone
  std::map<std::string, double> joules_;
};

}  // namespace loft::top
