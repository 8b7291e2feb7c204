// Leader sampling (`perf record -e '{cycles,instructions}:S'`): only the leader of a group takes
// samples, and each carries what all members have counted so far. What a member counted between
// two samples is the difference; it is that member's period. So samples must come in their order
// here, which within one counter is that of the file.
//
//   GroupTable table(events);
//   table.take(*sample, event, [&](std::uint32_t member, std::uint64_t period) { ... });
#pragma once

#include <map>
#include <utility>

#include "format/perf/sample.hpp"

namespace loft::source {

class GroupTable {
 public:
  explicit GroupTable(const format::perf::EventTable& events) : events_(events) {}

  // Whether samples of this layout tell what the members of a group counted.
  [[nodiscard]] static bool is_about(const format::perf::SampleLayout& layout) {
    constexpr std::uint64_t kNeeded = format::perf::kReadGroup | format::perf::kReadId;
    return layout.has(format::perf::kRead) && (layout.attr().read_format & kNeeded) == kNeeded;
  }

  // Gives each member that counted something since its last reading, with how much it was.
  template <class Give>
  void take(const perf_data::Sample& sample, bool is_inherited, const Give& give) {
    for (const auto& value : sample.reading->values) {
      const auto member = events_.event_of_id(value.id.value_or(0));
      if (!member) continue;
      // Counters that are inherited have one value for each thread.
      const std::uint32_t tid = is_inherited ? sample.who.tid.value_or(0) : 0;
      const std::uint64_t before = std::exchange(last_[{*value.id, tid}], value.value);
      if (value.value > before) give(*member, value.value - before);
    }
  }

 private:
  const format::perf::EventTable& events_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> last_;  // by id and thread
};

}  // namespace loft::source
