// Calls of functions in a run of the engine that somebody else starts and follows.
//
//   CallCounting calls(request, run.shared());
//   LOFT_CHECK(calls.start(BlockCounts::none));      // before the program starts
//   ...                                              // to its end
//   LOFT_TRY(const sample::CallRun result, calls.finish());
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "engine/call_areas.hpp"
#include "sample/call_request.hpp"
#include "sample/calls.hpp"
#include "source/tick_clock.hpp"
#include "source/virtual/call_guide.hpp"
#include "source/virtual/region.hpp"

namespace loft::source::virtual_pmu {

// Whether executions of blocks are counted, too, which costs time.
enum class BlockCounts { none, beside };

class CallCounting {
 public:
  CallCounting(const sample::CallRequest& request, engine::Shared& shared)
      : request_(request), shared_(shared), guide_(request) {}

  [[nodiscard]] Result<void> start(BlockCounts blocks);
  // What was counted. How the program ended is left to who followed it.
  [[nodiscard]] Result<sample::CallRun> finish();

 private:
  [[nodiscard]] std::uint64_t last_tick(const engine::SlotEntry& slot) const;
  [[nodiscard]] Result<void> add_thread(std::uint32_t number, const engine::SlotEntry& slot);
  void add_function(std::uint32_t number, const engine::CallFunctionEntry& entry);
  void add_nodes(const engine::CallArea& area);
  void add_to_node(std::uint32_t node, const std::uint64_t* value, const std::uint64_t* self);
  void add_call(const engine::CallRecord& record, std::uint16_t flags);
  void add_open(const engine::OpenCall& open);
  void add_notes();

  sample::CallRequest request_;
  engine::Shared& shared_;
  TickClock clock_;
  CallGuide guide_;
  std::optional<MappingGuide> answers_;
  sample::CallRun result_;
  std::vector<std::uint32_t> places_;  // of each quantity in the engine's arrays
  std::uint32_t thread_ = 0;
  std::vector<std::uint32_t> nodes_;  // of the result, by the thread's number
  std::map<std::uint64_t, std::uint32_t> node_numbers_;
  std::uint64_t lost_nodes_ = 0;
};

}  // namespace loft::source::virtual_pmu
