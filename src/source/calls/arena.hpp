// The memory that a program's threads write their sums into and loft reads: a context for each
// thread, see probes/calls/wire.h. It belongs to one image of a process, between two execs, and to
// the processes that were forked from it.
//
//   LOFT_TRY(auto arena, Arena::create(thread, instruction, pid, {.functions = 1000}));
//   const auto context = arena->open_context();             // nothing: there are as many as fit
//   set_gs(tid, arena->address_of(*context));
//   ...
//   arena->close_context(*context, 1000, now, statistics);   // when the thread has ended
//
// What is in there is the program's word: every pointer and count is checked before it is used.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <probes/calls/wire.h>
#include "base/fd.hpp"
#include "base/mapping.hpp"
#include "base/result.hpp"
#include "sample/calls.hpp"
#include "source/calls/tracee.hpp"

namespace loft::source::calls {

struct ArenaOptions {
  std::uint32_t functions = 1024;  // how many can be watched
  std::uint32_t contexts = 1024;   // threads at a time, if that many addresses are free
  std::uint32_t kept_calls = 0;  // that a thread can have unread, a power of two; 0: none are kept
  std::uint64_t longer = 0;      // ticks that a call must have taken to be kept
  std::uint64_t depth = 0;       // only those with fewer watched calls around them; 0: all
  std::uint64_t floor = 0;       // ticks of the clock itself, which no call is charged with
  std::uint32_t counters = 0;    // of hardware, that each thread reads
};

// A call that has ended, and what counters counted in it.
struct ReadCall : loft_calls_kept {
  loft_calls_counts counts{};
};

// A call that is still open, outermost first.
struct OpenCall {
  std::uint32_t function = 0;  // as in a context
  std::uint64_t start = 0;
  std::uint64_t child = 0;
  std::uint32_t node = 0;
};

// A node of a thread's tree of calls. Parents stand before their children.
struct ReadNode {
  std::uint32_t parent = 0;  // index of these, or kNoCallNode
  std::uint32_t function = 0;
  loft_calls_node sums{};  // with what is open
  loft_calls_counts counts{};
};

class Arena {
 public:
  // `thread` stands still and makes the memory in its process.
  [[nodiscard]] static Result<std::shared_ptr<Arena>> create(const Tracee& thread,
                                                             std::uint64_t instruction, pid_t pid,
                                                             const ArenaOptions& options);

  [[nodiscard]] std::uint32_t capacity() const { return options_.functions; }
  // Where the sums of a function are in each context.
  [[nodiscard]] static std::uint32_t offset_of_sums(std::uint32_t function);

  // A context for a thread; nothing where there are as many as fit. Then it shares kCommon with
  // others: their calls are counted as not measured.
  [[nodiscard]] std::optional<std::uint32_t> open_context();
  static constexpr std::uint32_t kCommon = 0;
  // The pages of a thread's counters, as many as the options say: its calls are counted from now
  // on.
  void set_counters(std::uint32_t context, const std::vector<std::uint64_t>& pages);
  // How often a counter was read while it was not on the hardware.
  [[nodiscard]] std::uint64_t uncounted(std::uint32_t context) const;
  [[nodiscard]] std::uint64_t address_of(std::uint32_t context) const;
  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  // The sums of the first `functions` so far.
  [[nodiscard]] std::vector<loft_calls_sums> all_sums(std::uint32_t context,
                                                      std::uint32_t functions) const;
  [[nodiscard]] std::vector<OpenCall> open_calls(std::uint32_t context) const;

  // The tree of calls of a thread; how many calls found no room in it.
  [[nodiscard]] std::vector<ReadNode> nodes(std::uint32_t context, std::uint64_t now,
                                            std::uint64_t& lost) const;

  // Hands what a thread has counted to `add`, function by function, and gives its context back.
  using Add = std::function<void(std::uint32_t function, const sample::CallStatistics&)>;
  void close_context(std::uint32_t context, std::uint32_t functions, std::uint64_t now,
                     const Add& add);

  // The calls that were kept since the last time.
  using Keep = std::function<void(const ReadCall&)>;
  void read_kept(std::uint32_t context, const Keep& keep);
  [[nodiscard]] std::uint64_t lost(std::uint32_t context) const;
  [[nodiscard]] bool keeps_calls() const { return options_.kept_calls != 0; }
  // The largest calls of a function that have ended, in no order.
  [[nodiscard]] std::vector<ReadCall> largest(std::uint32_t context, std::uint32_t function) const;

 private:
  Arena() = default;
  void prepare(std::uint32_t context);
  [[nodiscard]] Result<void> map(const Tracee& thread, std::uint64_t instruction,
                                 std::uint64_t number);
  [[nodiscard]] std::uint64_t steps_at() const;  // in a context
  [[nodiscard]] std::uint64_t largest_at() const;
  [[nodiscard]] std::uint64_t nodes_at() const;
  [[nodiscard]] std::uint64_t ring_at() const;
  // Where the tables of counters begin, and where the context ends.
  struct CountTables {
    std::uint64_t frames = 0, sums = 0, kept = 0, largest = 0, nodes = 0, end = 0;
  };
  [[nodiscard]] CountTables count_tables() const;
  template <typename Entry>
  [[nodiscard]] Entry entry_at(std::uint32_t context, std::uint64_t table,
                               std::uint64_t index) const;
  [[nodiscard]] loft_calls_context head_of(std::uint32_t context) const;
  [[nodiscard]] std::vector<loft_calls_node> all_nodes(std::uint32_t context) const;
  [[nodiscard]] std::uint32_t function_at(std::uint32_t offset) const;
  [[nodiscard]] std::byte* at(std::uint32_t context, std::uint64_t offset) const;
  void add_counts(std::uint32_t context, std::uint32_t function,
                  sample::CallStatistics& statistics) const;
  [[nodiscard]] sample::CallStatistics statistics(std::uint32_t context, std::uint32_t function,
                                                  const loft_calls_sums& sums) const;
  void add_open(std::uint32_t context, std::uint64_t now,
                std::vector<sample::CallDistribution>& times) const;

  ArenaOptions options_;
  Fd fd_;
  mutable Mapping mapping_;
  std::uint64_t address_ = 0;  // in the program
  std::uint64_t size_ = 0;
  std::uint64_t context_size_ = 0;
  std::vector<bool> used_;
};

}  // namespace loft::source::calls
