// The x86-64 encoder: SSE for 64 and 128 bits, VEX for 256 bits and all FMAs, EVEX for 512 bits.
//
// Registers: rdi vectors, rcx trips left, rdx end of stream 0. Vector registers 0 and 1 hold m and
// a, the accumulators follow. A walk wraps by conditional moves, so that the only branch of the
// loop is its own, taken until the end: there is no misprediction to measure.
#pragma once

#include <array>
#include <cstddef>

#include "machine/emit.hpp"

namespace loft::machine::x86 {

enum Reg : std::uint8_t {
  rax,
  rcx,
  rdx,
  rbx,
  rsp,
  rbp,
  rsi,
  rdi,
  r8,
  r9,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15
};

// None of the pointers is rsp or r12, whose encodings as a base are special.
inline constexpr std::array<Reg, kMaxStreams> kPointer{rsi, r8, r9, r10, r11, rbp};
inline constexpr std::array<Reg, kMaxStreams> kBase{rax, rbx, r12, r13, r14, r15};
// Kernels without strides need no bases: their integers are here, the first of them those that no
// pointer takes away.
inline constexpr std::array<Reg, kIntegers> kInteger{rax, r14, r15, rbp, r11, r10, r9, r8};
inline constexpr Reg kP = rbx, kQ = r12, kR = r13;

inline constexpr int kFirstAccumulator = 2;

enum Prefix : std::uint8_t { none, x66, xF3, xF2 };  // as VEX counts them

struct Encoding {
  Prefix prefix;
  std::uint8_t map;  // 1: 0F, 2: 0F38
  std::uint8_t opcode;
};

class Encoder {
 public:
  explicit Encoder(const Kernel& kernel)
      : kernel_(kernel),
        scalar_(kernel.isa == Isa::scalar),
        evex_(kernel.isa == Isa::avx512),
        vex_(kernel.isa == Isa::avx2 || (!evex_ && kernel.uses_fma())) {}

  Bytes emit();

 private:
  void put(std::initializer_list<int> bytes) {
    for (const int byte : bytes) out_.push_back(static_cast<std::uint8_t>(byte));
  }
  void put32(std::int64_t value) {
    for (int i = 0; i < 4; ++i) out_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void memory(int reg, Reg base, std::int64_t offset) {
    put({0x80 | (reg & 7) << 3 | (base & 7)});
    put32(offset);
  }
  // op r64, [base + offset], the same of 32 bits, and op r64, r64.
  void integer_memory(int opcode, Reg reg, Reg base, std::int64_t offset) {
    put({0x48 | (reg >> 3) << 2 | base >> 3, opcode});
    memory(reg, base, offset);
  }
  void half_memory(int opcode, Reg reg, Reg base, std::int64_t offset) {
    put({0x40 | (reg >> 3) << 2 | base >> 3, opcode});
    memory(reg, base, offset);
  }
  void integer(int opcode, Reg reg, Reg other) {
    put({0x48 | (other >> 3) << 2 | reg >> 3, opcode, 0xC0 | (other & 7) << 3 | (reg & 7)});
  }

  void prologue();
  void epilogue();
  void step(const Step& step);
  void arithmetic(const Step& step);
  void vector_integer(const Step& step);
  void between_files(const Step& step);
  void integer_arithmetic(const Step& step);
  void integer_access(const Step& step);
  void control(const Step& step);
  void advance();
  [[nodiscard]] Encoding encoding_of(Op op) const;
  void head(Encoding code, int reg, int second, int rm_high);
  void registers(Encoding code, int reg, int second, int rm);
  void vector_memory(Encoding code, int reg, Reg base, std::int64_t offset);
  [[nodiscard]] Encoding full_move(bool store) const {
    return {none, 1, static_cast<std::uint8_t>(store ? 0x29 : 0x28)};
  }

  const Kernel& kernel_;
  bool scalar_;
  bool evex_;
  bool vex_;
  bool whole_register_ = false;  // state is saved and restored whole, also of scalar kernels
  Bytes out_;
};

}  // namespace loft::machine::x86
