#include "core/models.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace loft::core {

CodeBlock::CodeBlock(std::vector<Instruction> code, const MachineGeometry& geometry)
    : last(code.back()), instructions(std::move(code)) {
  const std::uint64_t bytes = geometry.caches.l1i.line;
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    const Instruction& each = instructions[i];
    const std::uint64_t first_line = each.address / bytes;
    const std::uint64_t end_line =
        (each.address + std::max<std::uint64_t>(1, each.length) - 1) / bytes;
    if (i == 0 || first_line != last_line || end_line != first_line)
      fetches.push_back({first_line, i, static_cast<std::uint32_t>(end_line - first_line)});
    last_line = end_line;
  }
}

Models::Models(const MachineGeometry& geometry, Parts parts)
    : geometry_(geometry),
      parts_(parts),
      line_shift_(std::countr_zero(geometry.caches.l1i.line)),
      caches_(geometry.caches) {}

Step Models::execute(std::uint32_t number, const Instruction& instruction,
                     std::span<const Touched> touched, bool is_taken, std::uint64_t target) {
  Thread& thread = of(number);
  Step step;
  fetch(number, thread, instruction, step);
  data_.clear();
  for (const Touched& one : touched) touch(number, thread, instruction, one);
  step.data = data_;
  if (instruction.branch != BranchKind::none && parts_.branches) {
    const BlockEnd end{.is_taken = is_taken, .target = target};
    step.is_mispredicted = step.is_mispredicted_anew = predict(thread.branches, instruction, end);
    if (thread.anew != nullptr) step.is_mispredicted_anew = predict(*thread.anew, instruction, end);
  }
  if (window_ != nullptr && number == recorded_) add_to_window(instruction, step, is_taken);
  return step;
}

// Nobody knows where a branch went before a signal or at the end of what was seen: a predictor that
// learned from it would learn something wrong.
void Models::execute_in_window(std::uint32_t number, const Instruction& instruction, bool is_last,
                               const BlockEnd& end) {
  if (!is_last) {
    execute(number, instruction, touched_);
  } else if (end.is_known) {
    execute(number, instruction, touched_, end.is_taken, end.target);
  } else {
    Instruction undecided = instruction;
    undecided.branch = BranchKind::none;
    execute(number, undecided, touched_, end.is_taken, end.target);
  }
}

bool Models::predict(BranchUnit& branches, const Instruction& instruction, const BlockEnd& end) {
  return branches.execute({.kind = instruction.branch,
                           .address = instruction.address,
                           .target = end.target,
                           .is_taken = end.is_taken,
                           .next = instruction.address + instruction.length});
}

// Tables of pages lie beside all that programs have: eight bytes for each page of 4 KiB.
Translated Models::translate_data(std::uint32_t number, Thread& thread, std::uint64_t address,
                                  std::uint64_t size) {
  constexpr std::uint64_t kTables = std::uint64_t{1} << 63;
  Translated translated = thread.tlb.data(address, size);
  if (parts_.walks && translated.served == Translation::walk)
    translated.walked_from =
        std::max(Level::l2, caches_.walk(number, kTables | address >> 12 << 3).nearest);
  return translated;
}

void Models::touch_slowly(std::uint32_t number, const BlockTouch& touch, std::uint64_t ip) {
  if (touch.is_past)
    caches_.store_past(number, touch.address, touch.size);
  else if (touch.is_store)
    caches_.store(number, touch.address, touch.size, ip);
  else
    caches_.load(number, touch.address, touch.size, ip);
}

// Neighbours in one line are fetched together: a line counts once each time it is entered.
void Models::fetch(std::uint32_t number, Thread& thread, const Instruction& instruction,
                   Step& step) {
  if (!enters_line(thread, instruction)) return;
  const std::uint64_t size = std::max<std::uint64_t>(1, instruction.length);
  thread.fetched_line = last_line(instruction);
  step.is_fetched = true;
  if (parts_.tlb) step.code = thread.tlb.fetch(instruction.address, size);
  step.fetch = caches_.fetch(number, instruction.address, size);
}

void Models::touch(std::uint32_t number, Thread& thread, const Instruction& instruction,
                   const Touched& touched) {
  WindowAccess access{.address = touched.address,
                      .size = static_cast<std::uint32_t>(std::min<std::uint64_t>(
                          touched.size, std::numeric_limits<std::uint32_t>::max())),
                      .is_store = touched.is_store,
                      .is_past = touched.is_past};
  if (parts_.tlb)
    access.translation = translate_data(number, thread, touched.address, touched.size);
  access.cache = touched.is_past ? caches_.store_past(number, touched.address, touched.size)
                 : touched.is_store
                     ? caches_.store(number, touched.address, touched.size, instruction.address)
                     : caches_.load(number, touched.address, touched.size, instruction.address);
  data_.push_back(access);
}

void Models::record(Window* window, std::uint32_t thread) {
  window_ = window;
  recorded_ = thread;
  numbers_.clear();
  block_numbers_.clear();
  if (window_ != nullptr) *window_ = {.blocks = {}};
}

void Models::add_to_window(const Instruction& instruction, const Step& step, bool is_taken) {
  if (window_->executions.size() >= Window::kMostExecutions) return;
  const auto [place, is_new] = numbers_.try_emplace(
      instruction.address, static_cast<std::uint32_t>(window_->instructions.size()));
  if (is_new) {
    window_->instructions.push_back(instruction);
    // Blocks of the window are numbered anew: of a large program it has few.
    const auto [block, is_new_block] = block_numbers_.try_emplace(
        instruction.block, static_cast<std::uint32_t>(window_->blocks.size()));
    if (is_new_block) window_->blocks.push_back(instruction.block);
    window_->instructions.back().block = block->second;
  }
  const std::size_t accesses =
      std::min<std::size_t>(step.data.size(), std::numeric_limits<std::uint16_t>::max());
  window_->executions.push_back(
      {.instruction = place->second,
       .first_access = static_cast<std::uint32_t>(window_->accesses.size()),
       .accesses = static_cast<std::uint16_t>(accesses),
       .is_taken = is_taken,
       .is_mispredicted = step.is_mispredicted,
       .is_mispredicted_anew = step.is_mispredicted_anew,
       .fetched_from = step.fetch.level,
       .fetched_nearest = step.fetch.nearest,
       .code = step.code.served,
       .code_nearest = step.code.nearest});
  window_->accesses.insert(window_->accesses.end(), step.data.begin(),
                           step.data.begin() + static_cast<std::ptrdiff_t>(accesses));
}

// What a thread did before it was first seen is not known, once a warm-up has begun.
void Models::add_threads(std::uint32_t thread) {
  while (thread >= threads_.size()) {
    threads_.push_back(
        std::make_unique<Thread>(geometry_, caches_, static_cast<std::uint32_t>(threads_.size())));
    if (was_warmed_up_) start_warm_up(*threads_.back(), Cache::Keep::nothing);
  }
}

void Models::start_warm_up(Cache::Keep keep) {
  was_warmed_up_ = true;
  caches_.start_warm_up(keep);
  for (const auto& thread : threads_) start_warm_up(*thread, keep);
}

void Models::start_warm_up(Thread& thread, Cache::Keep keep) {
  thread.tlb.start_warm_up(keep);
  if (parts_.relearns) thread.anew = std::make_unique<BranchUnit>(geometry_.branches);
}

ModelView Models::view(std::uint32_t number) {
  caches_.add_thread(number);
  const Thread& thread = of(number);
  return {.l1i = &caches_.l1i(number),
          .l1d = &caches_.l1d(number),
          .l2 = &caches_.l2(number),
          .l3 = &caches_.l3(),
          .code = &caches_.code_misses(number),
          .data_reach = &caches_.data_reach(number),
          .code_reach = &caches_.code_reach(number),
          .moved = &caches_.moved(),
          .line_bytes = geometry_.caches.l1d.line,
          .traffic = &caches_.traffic(),
          .prefetches = &caches_.prefetches(),
          .sharing = &caches_.coherence().decided(),
          .tlb = &thread.tlb,
          .branches = &thread.branches.counts()};
}

void Models::reset_counts() {
  caches_.reset_counts();
  for (const auto& thread : threads_) {
    thread->tlb.reset_counts();
    thread->branches.reset_counts();
  }
}

}  // namespace loft::core
