// Writes the address stream: what each block touched, in order, as classify/stream_plan.hpp says.
//
// While a block runs, a register that it does not use holds the place in the thread's buffer; a
// word is then one store. The buffer ends in a page that cannot be written, so nothing is checked:
// the fault hands the buffer over. The place moves on when the block has ended. So a block that is
// left in its middle has not been written yet, and is written as the shorter block that it was.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "engine/classify/stream_plan.hpp"
#include "engine/runtime/block.hpp"
#include "engine/runtime/context.hpp"
#include "engine/runtime/emitter.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine::runtime {

inline constexpr std::uint8_t kNoStream = 0xFF;

// Whether somebody reads what is written; one that died does not.
bool has_reader();

// Gives the thread its buffer, a part of the shared memory; in a child process a new one.
void open_stream(Context* context);

// How many of the block's instructions leave two registers free for the stream.
std::uint32_t instructions_for_stream(const Block& block);

// The words of one block, as code.
class StreamEmitter {
 public:
  explicit StreamEmitter(Emitter& emitter) : emit_(emitter) {}

  // Chooses the registers and emits the number; returns the register that holds the buffer.
  std::uint8_t begin(const Block& block, std::uint32_t number, BlockPoint& point,
                     const std::uint8_t* code);
  void before(const Instruction& instruction);  // its words
  void after();                                 // those that only its run shows
  void end(BlockPoint& point, const std::uint8_t* code);

  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] bool has_words_after() const { return after_count_ != 0; }

 private:
  void store(const StreamWord& word);
  void store_register(int reg);
  void store_vector(const StreamWord& word);

  Emitter& emit_;
  StreamPlanner planner_;
  bool is_open_ = false;
  std::uint8_t buffer_ = 0;
  std::uint8_t scratch_ = 0;
  std::uint32_t offset_ = 0;
  std::uint32_t after_count_ = 0;
  StreamWord after_[4];
};

// Hands over all that is in the buffer, between two blocks.
void flush_stream(Context* context);

// A fault at `address`: true when it was the end of the buffer, which was handed over; the
// instruction can run again.
bool hand_over(Context* context, ucontext_t* user, std::uint64_t address);

// The block was left before its end, at `point`. Gives the program its register back, and writes
// the block as `part`, the instructions that ran; 0 when none did. An instruction that had begun,
// and starts again where it was, is written with what it did.
void leave_stream(Context* context, ucontext_t* user, const Trace& trace, const MapPoint& point,
                  std::uint32_t code_offset, std::uint32_t part);

}  // namespace loft::engine::runtime
