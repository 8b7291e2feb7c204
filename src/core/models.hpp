// All models of a machine, fed with the instructions of its threads in the order of execution.
//
//   Models models(geometry);
//   const Step step = models.execute(thread, instruction, touches, is_taken, target);
//   if (step.is_mispredicted) ++mispredictions_of[block];
//
// While record() holds a window, what thread `thread` executes is added to it:
//
//   models.start_warm_up(Cache::Keep::as_guess);
//   ...                                        // a million instructions
//   models.record(&window, thread);            // and some thousand
//   models.record(nullptr, 0);
#pragma once

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

class Models {
 public:
  explicit Models(const MachineGeometry& geometry);  // each part has passed its check()

  // `target` is where the thread went on, of branches.
  Step execute(std::uint32_t thread, const Instruction& instruction,
               std::span<const Touched> touched, bool is_taken = false, std::uint64_t target = 0);

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
    while (thread >= threads_.size()) threads_.push_back(std::make_unique<Thread>(geometry_));
    return *threads_[thread];
  }
  void fetch(std::uint32_t number, Thread& thread, const Instruction& instruction, Step& step);
  void touch(std::uint32_t number, Thread& thread, const Instruction& instruction,
             const Touched& touched);
  void add_to_window(const Instruction& instruction, const Step& step, bool is_taken);

  MachineGeometry geometry_;
  Hierarchy caches_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<WindowAccess> data_;
  Window* window_ = nullptr;
  std::uint32_t recorded_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;        // of instructions in the window
  std::unordered_map<std::uint32_t, std::uint32_t> block_numbers_;  // of blocks in it
};

}  // namespace loft::core
