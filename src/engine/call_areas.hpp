// loft's side of call_layout.hpp: what a thread has written of calls, copied out and checked.
//
//   LOFT_TRY(const CallArea area, read_calls(shared, slot, functions, now));
//   for (const auto& [number, function] : area.functions) use(function.calls);
//
// It may be read while the program runs; what is then half written is a call short or too long.
// The program can write all of it, so numbers are bounded here: functions are below `functions`,
// parents of nodes below their children.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/call_layout.hpp"
#include "engine/shared.hpp"

namespace loft::engine {

// A call that had not ended, and its values until the stack that it is on was last in use. Those of
// a stack in use go up to now; the ticks of that are the reader's to give.
struct OpenCall {
  CallRecord record{};
  std::uint32_t node = 0;
};

struct CallArea {
  std::vector<std::pair<std::uint32_t, CallFunctionEntry>> functions;  // that were called
  std::vector<CallNodeEntry> nodes;                                    // from number 1 on
  std::vector<CallRecord> records;
  std::vector<OpenCall> open;  // of each stack, the innermost first
  std::uint64_t lost = 0;
  std::uint64_t lost_nodes = 0;
};

// `now` are the ticks at which calls that are open are taken to be looked at.
[[nodiscard]] Result<CallArea> read_calls(const Shared& shared, std::uint32_t slot,
                                          std::uint32_t functions, std::uint64_t now);

}  // namespace loft::engine
