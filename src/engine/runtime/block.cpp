#include "engine/runtime/block.hpp"

#include <fcntl.h>

#include <cstring>

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/quick_decode.hpp"

namespace loft::engine::runtime {

long read_code(std::uint8_t* to, std::uint64_t from, long bytes) {
  const long got = engine_safe_copy(to, reinterpret_cast<const void*>(from), bytes);
  if (got != 0) return got;
  const long file = kernel(SYS_open, word("/proc/self/mem"), O_RDONLY | O_CLOEXEC);
  if (is_error(file)) return 0;
  const long read = kernel(SYS_pread64, static_cast<std::uint64_t>(file), word(to),
                           static_cast<std::uint64_t>(bytes), from);
  kernel(SYS_close, static_cast<std::uint64_t>(file));
  return is_error(read) ? 0 : read;
}

void decode_instruction(std::uint64_t pc, const std::uint8_t* bytes, std::uint32_t available,
                        Instruction& instruction) {
  if (!decode_quickly(pc, bytes, available, instruction))
    instruction = decode_fully(pc, bytes, available);
  instruction.door = door_at(bytes, instruction.length);
  if (instruction.door != Door::none) {
    instruction.flow = Flow::door;
    instruction.flags_written = kArithmeticFlags;
  }
}

void read_block(Block& block, std::uint64_t pc, std::uint64_t end, std::uint64_t code_end) {
  constexpr std::uint32_t kLongest = 15;
  constexpr std::uint32_t kUsual = 96;  // bytes: most blocks are short
  const auto wanted =
      static_cast<std::uint32_t>(code_end - pc < kMaxBlockBytes ? code_end - pc : kMaxBlockBytes);
  std::uint32_t available = 0;
  const auto read_up_to = [&](std::uint32_t bytes) {
    available += static_cast<std::uint32_t>(
        read_code(block.bytes + available, pc + available, long{bytes} - available));
  };
  read_up_to(wanted < kUsual ? wanted : kUsual);
  block.count = 0;
  block.size = 0;
  while (block.count < kMaxInstructions && pc + block.size < end) {
    if (available - block.size < kLongest && available < wanted) read_up_to(wanted);
    Instruction& instruction = block.instructions[block.count];
    decode_instruction(pc + block.size, block.bytes + block.size, available - block.size,
                       instruction);
    // Behind the first one, what does not decode is left to a block of its own.
    if (instruction.flow == Flow::invalid && block.count != 0) return;
    if (instruction.flow == Flow::refused && block.count != 0) return;
    if (instruction.flow == Flow::door && block.count != 0) return;
    ++block.count;
    block.size += instruction.length;
    if (instruction.ends_block()) return;
  }
}

namespace {

// Looks along the program from `pc` whether the flags that are not in `dead` are overwritten before
// anything reads them. Gives up soon: no is always a safe answer.
class FlagSearch {
 public:
  FlagSearch(std::uint64_t start, std::uint64_t end) : start_(start), end_(end) {}

  bool all_dead(std::uint64_t pc, std::uint32_t dead, int branches) {
    for (;;) {
      if (pc < start_ || pc >= end_ || --left_ < 0) return false;
      Instruction instruction;
      decode_at(pc, instruction);
      if ((instruction.flags_read & ~dead) != 0) return false;
      dead |= instruction.flags_written;
      if (dead == kArithmeticFlags) return instruction.flow == Flow::next;
      switch (instruction.flow) {
        case Flow::next:
          pc = instruction.next_pc();
          break;
        case Flow::jump:
        case Flow::call:
          pc = instruction.target;
          break;
        case Flow::conditional:
          if (branches == 0 || !all_dead(instruction.target, dead, branches - 1)) return false;
          pc = instruction.next_pc();
          break;
        default:
          return false;
      }
    }
  }

 private:
  // Code is read some instructions at a time.
  void decode_at(std::uint64_t pc, Instruction& instruction) {
    constexpr std::uint64_t kLongest = 15;
    const std::uint64_t room = end_ - pc < sizeof bytes_ ? end_ - pc : sizeof bytes_;
    const std::uint64_t needed = room < kLongest ? room : kLongest;
    if (pc < from_ || pc + needed > from_ + size_) {
      from_ = pc;
      size_ = static_cast<std::uint64_t>(read_code(bytes_, pc, static_cast<long>(room)));
    }
    decode_instruction(pc, bytes_ + (pc - from_), static_cast<std::uint32_t>(from_ + size_ - pc),
                       instruction);
  }

  std::uint64_t start_;
  std::uint64_t end_;
  std::uint8_t bytes_[64];
  std::uint64_t from_ = 0;
  std::uint64_t size_ = 0;
  int left_ = 24;  // instructions
};

// The flags that nobody behind the block needs.
std::uint32_t dead_behind(const Block& block, std::uint64_t start, std::uint64_t end) {
  const Instruction& last = block.instructions[block.count - 1];
  FlagSearch search(start, end);
  bool dead = false;
  switch (last.flow) {
    case Flow::next:
      dead = search.all_dead(last.next_pc(), 0, 1);
      break;
    case Flow::jump:
    case Flow::call:
      dead = search.all_dead(last.target, 0, 1);
      break;
    case Flow::conditional:
      dead = search.all_dead(last.target, 0, 0) && search.all_dead(last.next_pc(), 0, 0);
      break;
    default:
      break;
  }
  return dead ? kArithmeticFlags : 0;
}

std::uint32_t position_with(const Block& block, std::uint32_t dead) {
  std::uint32_t best = kNoDeadFlags;
  for (std::uint32_t i = block.count;
       i-- > 0;) {  // flags written before they are read, from behind
    const Instruction& instruction = block.instructions[i];
    dead = (dead | instruction.flags_written) & ~instruction.flags_read;
    if (dead == kArithmeticFlags) best = i;
  }
  return best;
}

}  // namespace

std::uint32_t counter_position(const Block& block, std::uint64_t start, std::uint64_t end) {
  const std::uint32_t inside = position_with(block, 0);
  return inside != kNoDeadFlags ? inside : position_with(block, dead_behind(block, start, end));
}

bool are_flags_dead(std::uint64_t pc, std::uint64_t start, std::uint64_t end) {
  return FlagSearch(start, end).all_dead(pc, 0, 1);
}

namespace {

RegisterUse use_of(const Instruction& instruction) {
  if (!instruction.knows_registers) return register_use(instruction);
  return {instruction.registers_read, instruction.registers_overwritten, instruction.uses_memory};
}

}  // namespace

int spare_register(const Block& block) {
  std::uint32_t read = 0;
  for (std::uint32_t i = 0; i < block.count && i < 12; ++i) {
    const RegisterUse use = use_of(block.instructions[i]);
    if (use.memory) return -1;
    read |= use.read;
    const std::uint32_t spare = use.overwritten & ~read & ~(1u << 4 | 1u << 12);  // not rsp, r12
    if (spare != 0) return __builtin_ctz(spare);
  }
  return -1;
}

}  // namespace loft::engine::runtime
