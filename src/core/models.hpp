// All models of a machine, fed with the instructions of its threads in the order of execution.
//
//   Models models(geometry);
//   const Step step = models.execute(thread, instruction, touches, is_taken, target);
//   if (step.is_mispredicted) ++mispredictions_of[block];
//
// A block of code that always runs as a whole is given at once, which takes a fraction of the time:
//
//   const CodeBlock code(instructions, geometry);
//   const auto give = [&](auto&& take) { for (const BlockTouch& each : accesses) take(each); };
//   models.execute(thread, code, give, {.is_taken = is_taken, .target = target},
//                  BlockObserver{});
//
// While record() holds a window, what thread `thread` executes is added to it:
//
//   models.start_warm_up(Cache::Keep::as_guess);
//   ...                                        // a million instructions
//   models.record(&window, thread);            // and some thousand
//   models.record(nullptr, 0);
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/geometry.hpp"
#include "core/modelled_events.hpp"
#include "core/window.hpp"

namespace loft::core {

struct Touched {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool is_store = false;
  bool is_past = false;  // a store past the caches
};

// What the models say about one executed instruction.
struct Step {
  Access fetch;  // of its code; l1 where it lies in the line fetched last
  Translated code;
  bool is_fetched = false;  // it lies in another line than the one before it
  bool is_mispredicted = false;
  bool is_mispredicted_anew = false;   // by what was learned since the warm-up began alone
  std::span<const WindowAccess> data;  // valid until the next step
};

// One access of a block of code.
struct BlockTouch {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  std::uint32_t instruction = 0;  // its index in the block; they ascend
  bool is_store = false;
  bool is_past = false;
};

// Where a block went.
struct BlockEnd {
  bool is_known = true;  // false: nobody knows what its last instruction did, if that is a branch
  bool is_taken = false;
  std::uint64_t target = 0;
};

// Instructions that run from the first to the last.
struct CodeBlock {
  // An instruction that enters another line of code than the one before it. The first one of a
  // block may do so; it comes first.
  struct Fetch {
    std::uint64_t line = 0;
    std::uint32_t instruction = 0;
    std::uint32_t more = 0;  // lines behind that one
  };

  CodeBlock(std::vector<Instruction> code, const MachineGeometry& geometry);

  std::vector<Fetch> fetches;
  std::uint64_t last_line = 0;
  Instruction last;
  std::vector<Instruction> instructions;
};

// Told by Models::execute() what a block did to the counts. Plain hits, of which nothing but a hit
// in L1 is counted, are told in sums; data() and fetched() say whose they are.
struct BlockObserver {
  void data(std::uint32_t) {}                    // an instruction had a plain hit in L1D
  void fetched(std::uint32_t, std::uint32_t) {}  // and so many in L1I
  void hits(std::uint64_t, std::uint64_t) {}     // all of them since the last call: data, code
  void changed(std::uint32_t) {}                 // any count may have changed
};

class Models {
 public:
  // Models that nobody asks need not run. Caches always do.
  struct Parts {
    bool tlb = true;
    bool branches = true;
    bool walks = false;  // page walks read the caches, too: a simulation of L1 misses has none
    // A second predictor begins anew with each warm-up. What the first one learned in earlier
    // pieces of a run may have been forgotten since, or not: nobody saw what was between them.
    bool relearns = false;
  };

  // Each part of the geometry has passed its check().
  explicit Models(const MachineGeometry& geometry) : Models(geometry, Parts{}) {}
  Models(const MachineGeometry& geometry, Parts parts);

  // `target` is where the thread went on, of branches.
  Step execute(std::uint32_t thread, const Instruction& instruction,
               std::span<const Touched> touched, bool is_taken = false, std::uint64_t target = 0);

  // The same as each instruction of the block in turn. `touches(take)` calls `take` with each
  // BlockTouch; the observer is one like BlockObserver.
  template <class Touches, class Observer>
  void execute(std::uint32_t number, const CodeBlock& block, Touches&& touches, const BlockEnd& end,
               Observer&& observer) {
    if (window_ != nullptr && number == recorded_) [[unlikely]]
      return execute_one_by_one(number, block, touches, end, observer);
    Thread& thread = of(number);
    const CodeBlock::Fetch* fetch = block.fetches.data();
    const CodeBlock::Fetch* const fetches_end = fetch + block.fetches.size();
    const auto last = static_cast<std::uint32_t>(block.instructions.size() - 1);
    if (fetch->line == thread.fetched_line && fetch->more == 0) ++fetch;
    // Copies, which stay in registers: most accesses are of the line used last in its set.
    const Cache::Recent recent = thread.quick.recent_data();
    const int line_shift = line_shift_;
    const bool has_tlb = parts_.tlb;
    std::uint64_t hits = 0;
    touches([&](const BlockTouch& one) __attribute__((always_inline)) {
      if (fetch != fetches_end && fetch->instruction <= one.instruction)
        fetch = fetch_until(number, thread, block, fetch, one.instruction, observer);
      const std::uint64_t line = one.address >> line_shift;
      const bool is_one_line = (one.address + one.size - 1) >> line_shift == line;
      if (is_one_line && recent.has(line, one.is_store) && !has_tlb && !one.is_past) [[likely]] {
        ++hits;
        observer.data(one.instruction);
        return;
      }
      thread.quick.add_data_hits(hits);
      hits = 0;
      touch_other(number, thread, block, one, observer);
    });
    thread.quick.add_data_hits(hits);
    if (fetch != fetches_end) fetch_until(number, thread, block, fetch, last, observer);
    thread.fetched_line = block.last_line;
    tell_hits(thread, observer);
    if (block.last.branch == BranchKind::none || !end.is_known || !parts_.branches) return;
    const bool is_mispredicted =
        block.last.branch == BranchKind::conditional
            ? thread.branches.execute_conditional(block.last.address, end.is_taken)
            : predict(thread.branches, block.last, end);
    if (thread.anew != nullptr) [[unlikely]]
      predict(*thread.anew, block.last, end);
    if (is_mispredicted) observer.changed(last);
  }

  // Empties the window. Instructions are told apart by their address; their `block` may be any
  // number, which Window::blocks keeps.
  void record(Window* window, std::uint32_t thread);
  void start_warm_up(Cache::Keep keep);
  void reset_counts();

  [[nodiscard]] const MachineGeometry& geometry() const { return geometry_; }
  [[nodiscard]] Hierarchy& caches() { return caches_; }
  [[nodiscard]] Tlb& tlb(std::uint32_t thread) { return of(thread).tlb; }
  [[nodiscard]] BranchUnit& branches(std::uint32_t thread) { return of(thread).branches; }
  // Valid as long as the models.
  [[nodiscard]] ModelView view(std::uint32_t thread);

 private:
  struct Thread {
    Thread(const MachineGeometry& geometry, Hierarchy& caches, std::uint32_t number)
        : quick(caches, number), tlb(geometry.tlb), branches(geometry.branches) {}
    QuickHits quick;
    Tlb tlb;
    BranchUnit branches;
    std::unique_ptr<BranchUnit> anew;  // since the warm-up began, where a part relearns
    std::uint64_t fetched_line = ~std::uint64_t{0};
  };

  Thread& of(std::uint32_t thread) {
    if (thread >= threads_.size()) [[unlikely]]
      add_threads(thread);
    return *threads_[thread];
  }
  void add_threads(std::uint32_t thread);
  template <class Touches, class Observer>
  void execute_one_by_one(std::uint32_t number, const CodeBlock& block, Touches&& touches,
                          const BlockEnd& end, Observer&& observer) {
    std::uint32_t next = 0;
    const auto execute_until = [&](std::size_t instruction) {
      for (; next < instruction; ++next) {
        execute_in_window(number, block.instructions[next], next + 1 == block.instructions.size(),
                          end);
        observer.changed(next);
        touched_.clear();
      }
    };
    touched_.clear();
    touches([&](const BlockTouch& one) {
      execute_until(one.instruction);
      touched_.push_back({one.address, one.size, one.is_store, one.is_past});
    });
    execute_until(block.instructions.size());
  }
  void execute_in_window(std::uint32_t number, const Instruction& instruction, bool is_last,
                         const BlockEnd& end);
  [[nodiscard]] bool enters_line(const Thread& thread, const Instruction& instruction) const {
    const std::uint64_t first = instruction.address >> line_shift_;
    return first != thread.fetched_line || last_line(instruction) != first;
  }
  [[nodiscard]] std::uint64_t last_line(const Instruction& instruction) const {
    return (instruction.address + std::max<std::uint64_t>(1, instruction.length) - 1) >>
           line_shift_;
  }
  template <class Observer>
  static void tell_hits(Thread& thread, Observer&& observer) {
    observer.hits(thread.quick.data_hits(), thread.quick.code_hits());
    thread.quick.count();
  }
  // Fetches lines up to those of the instruction; gives the next one.
  template <class Observer>
  [[gnu::noinline]] const CodeBlock::Fetch* fetch_until(std::uint32_t number, Thread& thread,
                                                        const CodeBlock& block,
                                                        const CodeBlock::Fetch* fetch,
                                                        std::uint32_t instruction,
                                                        Observer&& observer) {
    const CodeBlock::Fetch* const end = block.fetches.data() + block.fetches.size();
    for (; fetch != end && fetch->instruction <= instruction; ++fetch) {
      if (fetch_line(number, thread, block, *fetch)) {
        observer.fetched(fetch->instruction, 1 + fetch->more);
      } else {
        tell_hits(thread, observer);
        observer.changed(fetch->instruction);
      }
    }
    return fetch;
  }
  template <class Observer>
  [[gnu::noinline]] void touch_other(std::uint32_t number, Thread& thread, const CodeBlock& block,
                                     BlockTouch one, Observer&& observer) {
    if (touch_quickly(number, thread, one)) return observer.data(one.instruction);
    tell_hits(thread, observer);
    touch_slowly(number, one, block.instructions[one.instruction].address);
    observer.changed(one.instruction);
  }
  // False: it was more than plain hits in L1I.
  bool fetch_line(std::uint32_t number, Thread& thread, const CodeBlock& block,
                  const CodeBlock::Fetch& fetch) {
    const std::uint32_t lines = 1 + fetch.more;
    if (parts_.tlb && !translate(thread, block.instructions[fetch.instruction])) [[unlikely]] {
      for (std::uint32_t i = 0; i < lines; ++i) fetch_slowly(number, fetch.line + i);
      return false;
    }
    const std::uint32_t plain = thread.quick.fetch(fetch.line, lines);
    for (std::uint32_t i = plain; i < lines; ++i) fetch_slowly(number, fetch.line + i);
    return plain == lines;
  }
  static bool translate(Thread& thread, const Instruction& instruction) {
    const std::uint64_t size = std::max<std::uint64_t>(1, instruction.length);
    if (thread.tlb.fetch_quickly(instruction.address, size)) return true;
    thread.tlb.fetch(instruction.address, size);
    return false;
  }
  void fetch_slowly(std::uint32_t number, std::uint64_t line) {
    caches_.fetch(number, line << line_shift_, 1);
  }
  // False: no access to the caches was made yet.
  bool touch_quickly(std::uint32_t number, Thread& thread, const BlockTouch& touch) {
    if (parts_.tlb && !thread.tlb.data_quickly(touch.address, touch.size)) [[unlikely]] {
      translate_data(number, thread, touch.address, touch.size);
      return false;
    }
    return !touch.is_past && thread.quick.data(touch.address, touch.size, touch.is_store);
  }
  Translated translate_data(std::uint32_t number, Thread& thread, std::uint64_t address,
                            std::uint64_t size);
  void touch_slowly(std::uint32_t number, const BlockTouch& touch, std::uint64_t ip);
  // Whether it was mispredicted.
  static bool predict(BranchUnit& branches, const Instruction& instruction, const BlockEnd& end);
  void start_warm_up(Thread& thread, Cache::Keep keep);
  void fetch(std::uint32_t number, Thread& thread, const Instruction& instruction, Step& step);
  void touch(std::uint32_t number, Thread& thread, const Instruction& instruction,
             const Touched& touched);
  void add_to_window(const Instruction& instruction, const Step& step, bool is_taken);

  MachineGeometry geometry_;
  Parts parts_;
  int line_shift_;
  Hierarchy caches_;
  std::vector<std::unique_ptr<Thread>> threads_;
  bool was_warmed_up_ = false;  // until then everything is known
  std::vector<WindowAccess> data_;
  std::vector<Touched> touched_;
  Window* window_ = nullptr;
  std::uint32_t recorded_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;        // of instructions in the window
  std::unordered_map<std::uint32_t, std::uint32_t> block_numbers_;  // of blocks in it
};

}  // namespace loft::core
