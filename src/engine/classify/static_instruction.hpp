// What a model of a processor's core needs to know of an instruction before it runs: which
// registers it waits for and gives, what kind of unit computes it and for how long, what it does to
// memory, and how it branches. Plain data, worked out once per block.
//
//   const StaticInstruction fixed = describe_static(decoded, operands, address);
//   start = latest(ready, fixed.reads);
//   done  = start + latency[fixed.latency];
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>

#include "engine/classify/facts.hpp"

namespace loft::engine {

// A set of registers in one word: bit n is the register of that number.
using RegisterMask = std::uint64_t;
inline constexpr int kGeneralBit = 0;  // rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 .. r15
inline constexpr int kVectorBit = 16;  // xmm, ymm or zmm 0 .. 31
inline constexpr int kOpmaskBit = 48;  // k0 .. k7
inline constexpr int kCarryBit = 56;
inline constexpr int kFlagsBit = 57;  // all arithmetic flags but carry
inline constexpr int kX87Bit = 58;    // the x87 stack, or MMX
inline constexpr int kTileBit = 59;
inline constexpr int kDirectionBit = 60;
inline constexpr int kRegisterBits = 61;

[[nodiscard]] inline constexpr RegisterMask register_bit(int number) {
  return RegisterMask{1} << number;
}

// Instructions that take about as long on the same units. Loading and storing come on top: they are
// in `loads` and `stores`. A plain load is `move` with one load.
enum class LatencyClass : std::uint8_t {
  none,  // nothing computes: nop, zeroing, moves between registers that renaming can do
  move,
  int_simple,  // add, and, cmp, setcc, cmov, lea of two parts: one cycle
  int_shift,
  int_bit,  // popcnt, lzcnt, tzcnt, bsf
  int_mul,
  int_div,
  lea_slow,  // of three parts
  branch,
  fp_add,
  fp_mul,
  fp_fma,
  fp_div,
  fp_sqrt,
  fp_approximate,  // rcp, rsqrt
  fp_compare,
  fp_convert,
  fp_round,
  fp_horizontal,  // sums within a register, dot products
  vector_simple,  // logic, additions, compares, blends
  vector_mul,
  vector_shift,
  vector_shuffle,
  lane_crossing,  // shuffles that move data between halves of 128 bits
  vector_to_general,
  general_to_vector,
  mask,
  gather,
  scatter,
  x87_add,
  x87_mul,
  x87_other,
  transcendental,
  tile,
  crypto,
  string,
  atomic,
  fence,
  system,  // system calls, cpuid, xsave: hundreds of cycles
  other,
  count_
};

struct StaticInstruction {
  RegisterMask reads = 0;
  RegisterMask writes = 0;
  RegisterMask address_reads = 0;  // those of `reads` that only form addresses
  std::uint64_t target = 0;        // of a direct branch
  std::uint16_t mnemonic = 0;      // ZydisMnemonic
  std::uint16_t offset = 0;        // from the start of its block
  std::uint8_t length = 0;
  InsnClass insn_class = InsnClass::other;
  LatencyClass latency = LatencyClass::other;
  BranchKind branch = BranchKind::none;
  FpOp fp_op = FpOp::none;
  Precision precision = Precision::none;
  Width width = Width::none;
  std::uint8_t operand_bytes = 0;  // of a general instruction
  std::uint8_t vector_bytes = 0;   // of a vector instruction; of a scalar one, those of an element
  std::uint8_t loads = 0;          // memory operands that are read; of a gather, its lanes
  std::uint8_t stores = 0;
  std::uint8_t compute_uops = 0;  // besides those that load and store
  std::uint16_t load_bytes = 0;   // of one execution, where they are fixed
  std::uint16_t store_bytes = 0;
  bool is_divide = false;  // integer, vector or x87
  bool is_sqrt = false;
  bool is_fma = false;
  bool is_atomic = false;  // locked, or an exchange with memory
  bool is_fence = false;
  bool is_prefetch = false;
  bool is_non_temporal = false;
  bool is_masked = false;
  bool is_repeated = false;       // rep: as many times as the count register says
  bool is_zeroing = false;        // waits for nothing: xor and its like of a register with itself
  bool is_register_move = false;  // one that renaming can do
  bool is_stack = false;          // push, pop, call, return: rsp is known without computing
};

[[nodiscard]] StaticInstruction describe_static(const ZydisDecodedInstruction& instruction,
                                                const ZydisDecodedOperand* operands,
                                                std::uint64_t address);

[[nodiscard]] std::string_view name_of(LatencyClass value);

}  // namespace loft::engine
