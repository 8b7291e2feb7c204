// All models of a machine, fed with the instructions of its threads in the order of execution.
//
//   Models models(geometry);
//   const Step step = models.execute(thread, instruction, touches, is_taken, target);
//   if (step.is_mispredicted) ++mispredictions_of[block];
//
// A block of code that always runs as a whole is given at once, which takes a fraction of the time:
//
//   const CodeBlock code(instructions, geometry);
//   models.execute(thread, code, accesses.size(), [&](std::size_t i) { return accesses[i]; },
//                  {.is_taken = is_taken, .target = target}, BlockObserver{});
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
  CodeBlock(std::vector<Instruction> code, const MachineGeometry& geometry);

  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> entering;  // those behind the first that enter another line of code
};

// Told by Models::execute() what an instruction of a block did to the counts.
struct BlockObserver {
  void hit(std::uint32_t) {}      // one more hit in L1D, and nothing else that has an event
  void changed(std::uint32_t) {}  // any count may have changed
};

class Models {
 public:
  // Models that nobody asks need not run. Caches always do.
  struct Parts {
    bool tlb = true;
    bool branches = true;
    bool walks = false;  // page walks read the caches, too: a simulation of L1 misses has none
  };

  // Each part of the geometry has passed its check().
  explicit Models(const MachineGeometry& geometry) : Models(geometry, Parts{}) {}
  Models(const MachineGeometry& geometry, Parts parts);

  // `target` is where the thread went on, of branches.
  Step execute(std::uint32_t thread, const Instruction& instruction,
               std::span<const Touched> touched, bool is_taken = false, std::uint64_t target = 0);

  // The same as each instruction of the block in turn. `touch(i)` gives the i-th of `touches`
  // accesses as a BlockTouch; the observer is one like BlockObserver.
  template <class Touch, class Observer>
  void execute(std::uint32_t number, const CodeBlock& block, std::size_t touches, Touch&& touch,
               const BlockEnd& end, Observer&& observer) {
    if (window_ != nullptr && number == recorded_) [[unlikely]]
      return execute_one_by_one(number, block, touches, touch, end, observer);
    Thread& thread = of(number);
    if (enters_line(thread, block.instructions.front())) {
      fetch_line(number, thread, block.instructions.front());
      observer.changed(0);
    }
    auto entering = block.entering.begin();
    const auto fetch_until = [&](std::uint32_t instruction) {
      for (; entering != block.entering.end() && *entering <= instruction; ++entering) {
        fetch_line(number, thread, block.instructions[*entering]);
        observer.changed(*entering);
      }
    };
    for (std::size_t i = 0; i < touches; ++i) {
      const BlockTouch one = touch(i);
      fetch_until(one.instruction);
      if (touch_quickly(number, thread, one)) {
        observer.hit(one.instruction);
      } else {
        touch_slowly(number, one, block.instructions[one.instruction].address);
        observer.changed(one.instruction);
      }
    }
    const auto last = static_cast<std::uint32_t>(block.instructions.size() - 1);
    fetch_until(last);
    const Instruction& branch = block.instructions[last];
    if (branch.branch != BranchKind::none && end.is_known && parts_.branches &&
        predict(thread, branch, end))
      observer.changed(last);
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
    explicit Thread(const MachineGeometry& geometry)
        : tlb(geometry.tlb), branches(geometry.branches) {}
    Tlb tlb;
    BranchUnit branches;
    std::uint64_t fetched_line = ~std::uint64_t{0};
  };

  Thread& of(std::uint32_t thread) {
    if (thread >= threads_.size()) [[unlikely]]
      add_threads(thread);
    return *threads_[thread];
  }
  void add_threads(std::uint32_t thread);
  template <class Touch, class Observer>
  void execute_one_by_one(std::uint32_t number, const CodeBlock& block, std::size_t touches,
                          Touch&& touch, const BlockEnd& end, Observer&& observer) {
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < block.instructions.size(); ++i) {
      touched_.clear();
      for (; next < touches && touch(next).instruction == i; ++next) {
        const BlockTouch one = touch(next);
        touched_.push_back({one.address, one.size, one.is_store, one.is_past});
      }
      execute_in_window(number, block.instructions[i], i + 1 == block.instructions.size(), end);
      observer.changed(i);
    }
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
  void fetch_line(std::uint32_t number, Thread& thread, const Instruction& instruction);
  // False: no access to the caches was made yet.
  bool touch_quickly(std::uint32_t number, Thread& thread, const BlockTouch& touch) {
    if (parts_.tlb && !thread.tlb.data_quickly(touch.address, touch.size)) [[unlikely]] {
      translate(number, thread, touch.address, touch.size);
      return false;
    }
    return !touch.is_past &&
           caches_.data_quickly(number, touch.address, touch.size, touch.is_store);
  }
  Translated translate(std::uint32_t number, Thread& thread, std::uint64_t address,
                       std::uint64_t size);
  void touch_slowly(std::uint32_t number, const BlockTouch& touch, std::uint64_t ip);
  // Whether it was mispredicted.
  bool predict(Thread& thread, const Instruction& instruction, const BlockEnd& end);
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
