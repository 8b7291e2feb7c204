// What windows of a run say of the whole: counts with intervals, by thread and part of the program.
//
//   SampledCounts counts(model.windows(), part_of_block, executed);
//   show(counts.of({}, event));                  // of the whole run
//   show(counts.of({.slot = {}, .part = function}, event));
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "source/counting.hpp"
#include "source/virtual/sampled_model.hpp"

namespace loft::source::virtual_pmu {

class SampledCounts {
 public:
  using PartOf = std::function<std::uint32_t(std::uint32_t block)>;
  // How many instructions a thread executed in a part, exactly.
  struct Executed {
    std::uint32_t slot = 0;
    std::uint32_t part = 0;
    std::uint64_t instructions = 0;
  };
  struct Key {
    std::optional<std::uint32_t> slot;  // nothing: all
    std::optional<std::uint32_t> part;
  };

  SampledCounts(const std::vector<ModelWindow>& windows, const PartOf& part_of,
                std::vector<Executed> executed);

  // `event` is an index into the events that were sampled; `grain` is what one occurrence counts.
  [[nodiscard]] sample::Count of(const Key& key, std::size_t event, double grain = 1) const;

 private:
  // What a window saw of a thread in a part.
  struct Cell {
    std::uint32_t slot = 0;
    std::uint32_t part = 0;
    double instructions = 0;
    std::vector<double> counts;  // two for each event
  };
  struct Window {
    double weight = 0;  // 0: of the program's start, which nothing else stands for
    std::vector<Cell> cells;
  };

  void add(const ModelWindow& window, const PartOf& part_of);
  void weigh(const std::vector<ModelWindow>& windows);

  std::vector<Window> windows_;
  std::vector<Executed> executed_;
};

}  // namespace loft::source::virtual_pmu
