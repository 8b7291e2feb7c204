// What models count, added up by thread and instruction while a stream goes through them.
//
//   ModelSums sums(models, readers, {.code = ModelSums::Code::blocks});
//   sums.execute(feed, batch);                                      // of the stream, in order
//   sums.for_each([](const ModelSums::Place& place, std::uint64_t executions,
//                    std::span<const std::uint64_t> counts) {});
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
  enum class Code { together, blocks, instructions };  // what is told apart
  struct Detail {
    bool by_thread = false;
    Code code = Code::together;
  };
  // Where something was counted. What is not told apart is 0.
  struct Place {
    std::uint32_t slot = 0;
    std::uint32_t block = 0;   // engine::Shared::block()
    std::uint32_t offset = 0;  // of the instruction, in bytes
  };

  // What is read must be sums of counts: a hit in L1D always adds the same, and one in L1I.
  ModelSums(core::Models& models, std::vector<core::CountReader> readers, Detail detail);

  void execute(ModelFeed& feed, const engine::StreamedBlock& ran) {
    if (slot_ != ran.slot) [[unlikely]]
      switch_to(ran.slot);
    if (detail_.code == Code::together) return feed.execute(ran, core::BlockObserver{});
    Row& row = row_of(ran.number, *ran.block);
    ++row.executions;
    if (!counts_hits_)
      feed.execute(ran, Changes{{}, *this, ran.number, *ran.block});
    else
      feed.execute(ran, All{{{}, *this, ran.number, *ran.block}, row});
  }
  // Many at once, whose executions are not counted.
  void execute(ModelFeed& feed, const engine::StreamBatch& batch) {
    if (slot_ != batch.slot) [[unlikely]]
      switch_to(batch.slot);
    if (detail_.code == Code::together)
      return feed.execute(batch, [](std::uint32_t) { return core::BlockObserver{}; });
    const auto changes = [&](std::uint32_t number) {
      return Changes{{}, *this, number, *batch.blocks[number]};
    };
    if (!counts_hits_) return feed.execute(batch, changes);
    feed.execute(batch, [&](std::uint32_t number) {
      return All{changes(number), row_of(number, *batch.blocks[number])};
    });
  }
  // The models do other things, which belong to nothing here, until execute() is called again.
  void pause() {
    if (slot_) flush();
    slot_.reset();
  }
  void clear() {
    pause();
    rows_.clear();
  }
  // Calls `visit(place, executions, counts)` for each place; counts are aligned with the readers.
  template <class F>
  void for_each(F&& visit) {
    if (slot_) flush();
    for (const auto& [slot, rows] : rows_)
      for (std::uint32_t number = 0; number < rows.size(); ++number)
        if (rows[number] != nullptr) visit_row(slot, number, *rows[number], visit);
  }

 private:
  // Of one block: counts of its instructions, one after the other, or of all of them. Of a whole
  // thread one row.
  struct Row {
    std::uint64_t executions = 0;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> data_hits;  // that are in no count yet, by instruction
    std::vector<std::uint64_t> code_hits;
  };
  // Where no event counts hits.
  struct Changes : core::BlockObserver {
    ModelSums& all;
    std::uint32_t number;
    const engine::StreamBlock& block;
    void changed(std::uint32_t instruction) {
      Row& row = all.row_of(number, block);
      all.add(row.counts.data() + all.place(instruction) * all.readers_.size());
    }
  };
  // Most accesses hit in L1. They are counted here, and join the events at the end.
  struct All : Changes {
    Row& row;
    void data(std::uint32_t instruction) { ++row.data_hits[all.place(instruction)]; }
    void fetched(std::uint32_t instruction, std::uint32_t lines) {
      row.code_hits[all.place(instruction)] += lines;
    }
    void hits(std::uint64_t data, std::uint64_t code) {
      all.data_hits_ += data;
      all.code_hits_ += code;
    }
  };
  [[nodiscard]] std::size_t place(std::uint32_t instruction) const {
    return detail_.code == Code::instructions ? instruction : 0;
  }

  template <class F>
  void visit_row(std::uint32_t slot, std::uint32_t number, const Row& row, F& visit) const {
    std::vector<std::uint64_t> counts(readers_.size());
    for (std::size_t i = 0; i < row.offsets.size(); ++i) {
      for (std::size_t k = 0; k < counts.size(); ++k)
        counts[k] = row.counts[i * counts.size() + k] + row.data_hits[i] * per_data_hit_[k] +
                    row.code_hits[i] * per_code_hit_[k];
      visit(Place{slot, number, row.offsets[i]}, row.executions,
            std::span<const std::uint64_t>(counts));
    }
  }
  Row& row_of(std::uint32_t number, const engine::StreamBlock& block) {
    std::vector<std::unique_ptr<Row>>& rows = *blocks_;
    if (number < rows.size() && rows[number] != nullptr) [[likely]]
      return *rows[number];
    return new_row(number, block);
  }
  Row& new_row(std::uint32_t number, const engine::StreamBlock& block);
  void switch_to(std::uint32_t slot);
  void add(std::uint64_t* counts);
  void flush();

  core::Models& models_;
  std::vector<core::CountReader> readers_;
  std::vector<std::uint64_t> per_data_hit_, per_code_hit_;  // what one hit in L1 adds to each
  bool counts_hits_;                                        // one of them does
  Detail detail_;
  std::map<std::uint32_t, std::vector<std::unique_ptr<Row>>> rows_;  // by slot, then by block
  std::vector<std::unique_ptr<Row>>* blocks_ = nullptr;              // of the slot at hand
  std::optional<std::uint32_t> slot_;  // whose models `view_` and `before_` are of
  core::ModelView view_;
  std::vector<std::uint64_t> before_;
  std::uint64_t data_hits_ = 0;  // since `before_` was read
  std::uint64_t code_hits_ = 0;
};

}  // namespace loft::source::virtual_pmu
