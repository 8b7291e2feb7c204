// What models count, added up by thread and instruction while a stream goes through them.
//
//   ModelSums sums(models, events, {.by_code = true});
//   sums.execute(feed, ran);                                        // for each block of the stream
//   sums.for_each([](const ModelSums::Place& place, std::span<const std::uint64_t> counts) {});
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/models.hpp"
#include "engine/stream.hpp"
#include "source/virtual/model_feed.hpp"

namespace loft::source::virtual_pmu {

class ModelSums {
 public:
  struct Detail {
    bool by_thread = false;
    bool by_code = false;
  };
  // Where something was counted. What is not told apart is 0.
  struct Place {
    std::uint32_t slot = 0;
    std::uint32_t block = 0;   // engine::Shared::block()
    std::uint32_t offset = 0;  // of the instruction, in bytes
  };

  // The events are of core::modelled_events().
  ModelSums(core::Models& models, std::vector<const core::ModelledEvent*> events, Detail detail);

  void execute(ModelFeed& feed, const engine::StreamedBlock& ran) {
    if (slot_ != ran.slot) look_at(ran.slot);
    if (!detail_.by_code) return feed.execute(ran, core::BlockObserver{});
    feed.execute(ran, Observer{*this, row_of(ran)});
  }
  // Calls `visit(place, counts)` for each place; counts are aligned with the events.
  template <class F>
  void for_each(F&& visit) {
    settle();
    for (const auto& [slot, rows] : rows_)
      for (std::uint32_t number = 0; number < rows.size(); ++number)
        if (rows[number] != nullptr) visit_row(slot, number, *rows[number], visit);
  }

 private:
  // Of one block: counts of its instructions, one after the other; of a whole thread one row.
  struct Row {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> hits;  // that are in no count yet, by instruction
  };
  // Most accesses hit in L1D. They are counted here, and join the events at the end.
  struct Observer {
    ModelSums& all;
    Row& row;
    void hit(std::uint32_t instruction) {
      ++row.hits[instruction];
      ++all.hits_;
    }
    void changed(std::uint32_t instruction) {
      all.add(row.counts.data() + instruction * all.events_.size());
    }
  };

  template <class F>
  void visit_row(std::uint32_t slot, std::uint32_t number, const Row& row, F& visit) const {
    std::vector<std::uint64_t> counts(events_.size());
    for (std::size_t i = 0; i < row.offsets.size(); ++i) {
      for (std::size_t k = 0; k < counts.size(); ++k)
        counts[k] = row.counts[i * counts.size() + k] + row.hits[i] * per_hit_[k];
      visit(Place{slot, number, row.offsets[i]}, std::span<const std::uint64_t>(counts));
    }
  }
  Row& row_of(const engine::StreamedBlock& ran) {
    std::vector<std::unique_ptr<Row>>& rows = *blocks_;
    if (ran.number < rows.size() && rows[ran.number] != nullptr) [[likely]]
      return *rows[ran.number];
    return new_row(ran);
  }
  Row& new_row(const engine::StreamedBlock& ran);
  void look_at(std::uint32_t slot);
  void add(std::uint64_t* counts);
  void settle();

  core::Models& models_;
  std::vector<const core::ModelledEvent*> events_;
  std::vector<std::uint64_t> per_hit_;  // what one hit in L1D adds to each event
  Detail detail_;
  std::map<std::uint32_t, std::vector<std::unique_ptr<Row>>> rows_;  // by slot, then by block
  std::vector<std::unique_ptr<Row>>* blocks_ = nullptr;              // of the slot at hand
  std::optional<std::uint32_t> slot_;  // whose models `view_` and `before_` are of
  core::ModelView view_;
  std::vector<std::uint64_t> before_;
  std::uint64_t hits_ = 0;  // since `before_` was read
};

}  // namespace loft::source::virtual_pmu
