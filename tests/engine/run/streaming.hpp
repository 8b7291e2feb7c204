// The address stream in tests: a listener that is a function, and blocks taken apart into
// instructions.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "engine/stream.hpp"

namespace loft::engine {

class Listening : public StreamListener {
 public:
  explicit Listening(std::function<void(const StreamedBlock&)> listener)
      : listener_(std::move(listener)) {}
  void on_block(const StreamedBlock& ran) override { listener_(ran); }

 private:
  std::function<void(const StreamedBlock&)> listener_;
};

struct StreamedInstruction {
  std::uint64_t address = 0;
  std::vector<Touch> touched;  // ranges as the single accesses that they are, in order
  bool is_finished = true;
};

inline std::vector<Touch> touched_by(const StreamedBlock& ran, std::size_t instruction) {
  std::vector<Touch> touched;
  std::vector<StreamTouch> ranges;
  for (const StreamTouch& touch : ran.touches()) {
    if (touch.instruction != instruction) continue;
    if (touch.element != 0)
      ranges.push_back(touch);
    else
      touched.push_back({touch.address, touch.size, touch.is_store});
  }
  for (std::uint32_t at = 0; !ranges.empty() && at < ranges[0].size; at += ranges[0].element)
    for (const StreamTouch& range : ranges)
      touched.push_back(
          {range.is_down ? range.address + range.size - range.element - at : range.address + at,
           range.element, range.is_store});
  return touched;
}

inline std::vector<StreamedInstruction> instructions_of(const StreamedBlock& ran) {
  std::vector<StreamedInstruction> result;
  const auto fixed = ran.block->instructions();
  for (std::size_t i = 0; i < fixed.size(); ++i)
    result.push_back({ran.block->address() + fixed[i].offset, touched_by(ran, i),
                      ran.block->is_finished() || i + 1 != fixed.size()});
  return result;
}

}  // namespace loft::engine
