// The regions that a program under the engine marked (include/loft/region.h), as a tree: the same
// region inside the same others is one, whichever thread or process was in it.
//
//   const MarkedRegions regions(shared.paths());
//   regions.nodes()[*regions.find(slot.path)].name
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/layout.hpp"
#include "sample/counting.hpp"

namespace loft::source::virtual_pmu {

class MarkedRegions {
 public:
  struct Node {
    std::string name;
    std::optional<std::size_t> parent;  // stands before it
    unsigned depth = 0;                 // how many are around it
  };

  explicit MarkedRegions(const std::vector<engine::PathEntry>& paths);

  // Depth first, children in the order in which they were first met.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  // The node of SlotEntry::path; nothing for what is outside of all.
  [[nodiscard]] std::optional<std::size_t> find(std::uint32_t path) const;
  // Names from the outermost to the node's own.
  [[nodiscard]] std::vector<std::string> names_of(std::size_t node) const;

 private:
  std::vector<Node> nodes_;
  std::vector<std::optional<std::size_t>> of_path_;  // by number of the PathEntry
};

// What threads did in regions: the counts of their slots, added up from the innermost region
// outwards.
class RegionSums {
 public:
  RegionSums(const MarkedRegions& regions, std::size_t width)
      : regions_(regions), width_(width), rows_(regions.nodes().size()) {}

  struct Row {
    bool was_met = false;
    std::uint64_t visits = 0;
    std::vector<std::uint64_t> whole, self;  // with and without the regions inside of it
  };

  // `counts` has `width` numbers.
  void add(const engine::SlotEntry& slot, const std::vector<std::uint64_t>& counts);
  // Aligned with the nodes.
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  const MarkedRegions& regions_;
  std::size_t width_;
  std::vector<Row> rows_;
};

[[nodiscard]] std::string wrong_ends_note(std::uint32_t ends);

// Regions as results have them: over all threads, then in each. A thread has a slot for each region
// that it was in, and one for what is outside of all.
class RegionRows {
 public:
  RegionRows(const std::vector<engine::PathEntry>& paths, std::size_t width, bool by_thread)
      : regions_(paths), width_(width), by_thread_(by_thread), all_(regions_, width) {}
  RegionRows(const RegionRows&) = delete;
  RegionRows& operator=(const RegionRows&) = delete;

  // What was counted in a slot.
  void add(const engine::SlotEntry& slot, const std::vector<std::uint64_t>& counts);
  // `placed` makes counts of numbers that were added.
  using Placed = std::function<std::vector<sample::Count>(const std::vector<std::uint64_t>&)>;
  void put_into(std::vector<sample::ThreadCounts>& threads,
                std::vector<sample::RegionCounts>& regions, const Placed& placed) const;

 private:
  struct Thread {
    engine::SlotEntry slot;
    std::vector<std::uint64_t> total;
    RegionSums regions;
  };

  MarkedRegions regions_;
  std::size_t width_;
  bool by_thread_;
  RegionSums all_;
  std::vector<Thread> threads_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> index_;
};

}  // namespace loft::source::virtual_pmu
