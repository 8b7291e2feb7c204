// Calls of functions, counted one by one: what `loft call` measured, whichever way.
//
// A call begins at a function's first instruction and ends when the stack pointer rises above where
// it was then: by a return, by a return of what it jumped to, by an exception, by longjmp.
//
//   for (std::size_t i = 0; i < run.functions.size(); ++i)
//     print(run.functions[i].name, run.statistics[i].calls,
//           run.in_unit(0, run.statistics[i].of[0].self));
//
// Of each call several quantities are known: the time and counts of events. The first of them
// leads: tables are sorted by it. Values are kept as they were read (ticks, occurrences); a
// quantity's scale makes its unit of them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "base/clock.hpp"
#include "base/log_linear.hpp"
#include "sample/count.hpp"

namespace loft::sample {

inline constexpr std::string_view kNativeRoute = "native";
inline constexpr std::string_view kVirtualRoute = "virtual";
inline constexpr std::string_view kJoinedRoute =
    "native+virtual";  // time of one run, counts of another

inline constexpr std::uint32_t kNoFunction = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoCallNode = ~std::uint32_t{0};

struct WatchedFunction {
  std::string name;           // demangled
  std::string dso;            // path of its binary
  std::uint64_t address = 0;  // of its first instruction, as in the binary's own tables
  std::string why_not;        // not empty: it was not watched, or not to the end, and why
  std::string hint;           // what helps then

  [[nodiscard]] bool is_watched() const { return why_not.empty(); }
};

struct CallQuantity {
  std::string name;  // "time", or the event as it was asked for
  std::string unit;  // "ns", "instructions", "bytes"
  double scale = 1;  // how much of the unit one step of the raw value is
  Origin origin = Origin::counted;
  bool is_time = false;
};

// How many calls had a value in each step (base/log_linear.hpp).
class CallHistogram {
 public:
  CallHistogram() = default;
  // As they are counted elsewhere; what is above kLogLinearSteps is left out.
  explicit CallHistogram(std::span<const std::uint64_t> counts);

  void add(std::uint64_t value, std::uint64_t times = 1);
  CallHistogram& operator+=(const CallHistogram& other);
  [[nodiscard]] bool is_empty() const { return total_ == 0; }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  // By step; shorter than kLogLinearSteps when the last ones are 0.
  [[nodiscard]] std::span<const std::uint64_t> counts() const { return counts_; }
  // The step that the call of this rank lies in, 0 the smallest and 1 the largest of them.
  [[nodiscard]] std::uint32_t step_at(double share) const;
  bool operator==(const CallHistogram&) const = default;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

// One quantity of all calls of a function.
struct CallDistribution {
  std::uint64_t calls = 0;  // that have ended; other ones than the function's where it was counted
                            // in another run
  std::uint64_t total = 0;  // of outermost calls alone: a recursion is in it once. With open calls
  std::uint64_t self = 0;   // without what watched functions in it took. With open calls
  std::uint64_t sum = 0;    // of each call that has ended
  std::uint64_t min = ~std::uint64_t{0};
  std::uint64_t max = 0;
  CallHistogram histogram;  // may be empty: then it was not kept of this quantity

  void add(std::uint64_t value, std::uint64_t self_value, bool is_outermost);
  CallDistribution& operator+=(const CallDistribution& other);
  // The value below which this share of the calls lies: the middle of its step, between min and
  // max. Only where there is a histogram.
  [[nodiscard]] double percentile(double share) const;
  bool operator==(const CallDistribution&) const = default;
};

struct CallStatistics {
  std::uint64_t calls = 0;           // that have ended
  std::uint64_t open = 0;            // that had not when the run, or the watching, ended
  std::uint64_t ended_early = 0;     // of `calls`: by an exception, longjmp and the like
  std::uint64_t unmeasured = 0;      // that were seen, and nothing is known of them
  std::vector<CallDistribution> of;  // by quantity

  // False where calls were seen and a quantity was measured of none of them.
  [[nodiscard]] bool is_known(std::size_t quantity) const {
    return calls + open + unmeasured == 0 || of[quantity] != CallDistribution();
  }
  CallStatistics& operator+=(const CallStatistics& other);
  bool operator==(const CallStatistics&) const = default;
};

struct CallThread {
  pid_t process = 0;
  pid_t thread = 0;
  std::string name;
};

enum CallFlag : std::uint16_t {
  kEndedEarly = 1,  // by something else than its return
  kOpen = 2,        // had not ended: the values are those until then
  kRecursive = 4,   // in another call of the same function
  kEndsLater = 8,   // it ended no later than its values say: its end was noticed afterwards
};

struct KeptCall {
  std::uint32_t function = 0;          // index of the run's functions
  std::uint32_t thread = 0;            // index of the run's threads
  std::uint64_t begin = 0;             // ticks of the run's clock
  std::uint64_t ticks = 0;             // how long
  std::uint32_t depth = 0;             // watched calls around it
  std::uint32_t caller = kNoFunction;  // the innermost of them
  std::uint16_t flags = 0;
};

struct CallValue {
  std::uint64_t value = 0;
  std::uint64_t self = 0;
  bool operator==(const CallValue&) const = default;
};

// Counts of a call that were not taken, where others were.
inline constexpr CallValue kUnknownValue{~std::uint64_t{0}, ~std::uint64_t{0}};

// Calls by what they were called from: a tree whose nodes stand after their parents.
struct CallNode {
  std::uint32_t parent = kNoCallNode;
  std::uint32_t function = 0;
  std::uint64_t calls = 0;
};

// Ticks of calls as times of CLOCK_MONOTONIC.
struct CallClock {
  double nanoseconds_per_tick = 1;
  std::uint64_t zero = 0;  // a tick,
  Nanoseconds at_zero{0};  // and when it was

  [[nodiscard]] Nanoseconds time_of(std::uint64_t tick) const {
    const auto since = static_cast<std::int64_t>(tick - zero);
    return at_zero + Nanoseconds(static_cast<std::int64_t>(static_cast<double>(since) *
                                                           nanoseconds_per_tick));
  }
};

struct CallRun {
  std::vector<CallQuantity> quantities;
  std::vector<WatchedFunction> functions;
  std::vector<CallStatistics> statistics;  // of each function
  std::vector<CallThread> threads;
  CallClock clock;
  bool has_values = true;  // false: functions were counted, and nothing is known of their calls

  std::vector<CallNode> nodes;
  std::vector<CallValue> node_values;  // nodes x quantities, of calls that have ended or are open

  // Single calls: those asked for, or else the slowest of each function.
  std::vector<KeptCall> calls;
  std::vector<CallValue> values;  // calls x quantities
  bool has_all_calls = false;     // all that were to be kept, but for `lost`
  std::uint64_t seen = 0;         // calls that were to be kept: those in `calls`, and
  std::uint64_t lost = 0;         // those that found no room

  std::optional<double> overhead_ns;  // of the clock: it was subtracted from each call
  std::string route;                  // "virtual" or "native"
  std::vector<std::string> notes;
  std::vector<std::string> command;  // that was run; empty where it ran already
  ProcessEnd end;

  [[nodiscard]] double in_unit(std::size_t quantity, std::uint64_t raw) const {
    return static_cast<double>(raw) * quantities[quantity].scale;
  }
  [[nodiscard]] std::span<const CallValue> values_of(std::size_t call) const {
    return std::span(values).subspan(call * quantities.size(), quantities.size());
  }
  [[nodiscard]] std::span<const CallValue> values_of_node(std::size_t node) const {
    return std::span(node_values).subspan(node * quantities.size(), quantities.size());
  }
};

// The statistics that the kept calls alone give. Equal to the run's own where all were kept.
[[nodiscard]] std::vector<CallStatistics> recompute(const CallRun& run);

// Who called a function how often: one row per pair, the most calls first.
struct CallEdge {
  std::uint32_t caller = kNoFunction;
  std::uint32_t callee = 0;
  std::uint64_t calls = 0;
  std::vector<CallValue> values;
};
[[nodiscard]] std::vector<CallEdge> callers(const CallRun& run);

// The kept calls with the largest value of a quantity, largest first: their indices.
[[nodiscard]] std::vector<std::size_t> slowest(const CallRun& run, std::size_t quantity,
                                               std::size_t most);

}  // namespace loft::sample
