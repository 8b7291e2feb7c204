// What each thread under the engine did in each function since it was last asked.
//
//   PartTable table(run.shared(), events);
//   LOFT_TRY(const auto parts, table.since_last(slot));
//   for (const PartTable::Part& part : parts) use(part.address, part.counts);
//
// What is reported of a thread adds up to what it counted. While a thread runs, one of its counters
// can be seen too low for a moment; the rest is reported the next time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/tally.hpp"
#include "source/virtual/functions.hpp"

namespace loft::source::virtual_pmu {

class PartTable {
 public:
  struct Part {
    std::uint64_t address = 0;          // of an instruction of the function, in this process
    std::vector<std::uint64_t> counts;  // aligned with the events
  };

  PartTable(const engine::Shared& shared, std::vector<engine::EventIndex> events);

  [[nodiscard]] Result<std::vector<Part>> since_last(std::uint32_t slot);
  // The thread has ended: nothing more will be asked.
  void close(std::uint32_t slot);

  // How much was reported beyond what is true, since counts of a moment turned out to be too high.
  [[nodiscard]] std::uint64_t reported_too_much() const { return reported_too_much_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return functions_.notes(); }

 private:
  // The same function, mapped by several processes, has several addresses.
  struct Key {
    std::uint32_t mapping = 0;
    std::uint32_t function = 0;
    auto operator<=>(const Key&) const = default;
  };
  using Reported = std::unordered_map<std::uint32_t, std::vector<std::uint64_t>>;  // by part

  [[nodiscard]] std::uint32_t part_of(const engine::BlockEntry& block, std::uint64_t address);

  engine::Tally tally_;
  FunctionFinder functions_;
  std::size_t width_;
  std::map<Key, std::uint32_t> index_;
  std::vector<std::uint64_t> addresses_;                  // by part
  std::unordered_map<std::uint32_t, Reported> reported_;  // by slot
  std::uint64_t reported_too_much_ = 0;
  engine::PartTally parts_;
};

}  // namespace loft::source::virtual_pmu
