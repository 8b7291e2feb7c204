// The x86-64 encoder: SSE for 64 and 128 bits, VEX for 256 bits and all FMAs, EVEX for 512 bits.
//
// Registers: rdi arguments, rcx trips left, rdx end of stream 0. Vector registers 0 and 1 hold m
// and a, the accumulators follow. A walk wraps by conditional moves, so that the only branch of
// the loop is its own, taken until the end: there is no misprediction to measure.
#include <array>
#include <cstddef>

#include "machine/emit.hpp"

namespace loft::machine {
namespace {

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
constexpr std::array<Reg, kMaxStreams> kPointer{rsi, r8, r9, r10, r11, rbp};
constexpr std::array<Reg, kMaxStreams> kBase{rax, rbx, r12, r13, r14, r15};
constexpr std::array<Reg, 6> kSaved{rbx, rbp, r12, r13, r14, r15};
// Integer kernels have no strides, so rax, rbx, r12 and r13 are free for i, p, q and r.
constexpr Reg kI = rax, kP = rbx, kQ = r12, kR = r13;

constexpr int kFirstAccumulator = 2;

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
  // op r64, [base + offset], and op r64, r64.
  void integer_memory(int opcode, Reg reg, Reg base, std::int64_t offset) {
    put({0x48 | (reg >> 3) << 2 | base >> 3, opcode});
    memory(reg, base, offset);
  }
  void integer(int opcode, Reg reg, Reg other) {
    put({0x48 | (other >> 3) << 2 | reg >> 3, opcode, 0xC0 | (other & 7) << 3 | (reg & 7)});
  }

  void prologue();
  void epilogue();
  void step(const Step& step);
  void arithmetic(const Step& step);
  void integer_step(const Step& step);
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

Encoding Encoder::encoding_of(Op op) const {
  const bool dp = kernel_.precision == Precision::dp;
  const Prefix kind = scalar_ ? (dp ? xF2 : xF3) : (dp ? x66 : none);
  switch (op) {
    case Op::add:
      return {kind, 1, 0x58};
    case Op::mul:
      return {kind, 1, 0x59};
    case Op::div:
      return {kind, 1, 0x5E};
    case Op::sqrt:
    case Op::sqrt_of_m:
      return {kind, 1, 0x51};
    case Op::bit_or:  // orps, orpd: of whole registers, also in scalar kernels
      return {dp ? x66 : none, 1, 0x56};
    case Op::fma:  // vfmadd213: reg = second * reg + rm
      return {x66, 2, static_cast<std::uint8_t>(scalar_ ? 0xA9 : 0xA8)};
    case Op::fma_into:  // vfmadd231: reg = second * rm + reg
      return {x66, 2, static_cast<std::uint8_t>(scalar_ ? 0xB9 : 0xB8)};
    case Op::load:
      return {kind, 1, static_cast<std::uint8_t>(scalar_ ? 0x10 : 0x28)};
    case Op::store:
      return {kind, 1, static_cast<std::uint8_t>(scalar_ ? 0x11 : 0x29)};
    default:
      return {dp ? x66 : none, 1, 0x2B};  // movntps, movntpd
  }
}

// All that stands before ModRM. `rm_high` are bits 3 and 4 of the register or base in ModRM.rm.
void Encoder::head(Encoding code, int reg, int second, int rm_high) {
  static constexpr std::array<int, 4> kLegacy{0, 0x66, 0xF3, 0xF2};
  // FMA tells its precision by W alone; EVEX wants W for all doubles.
  const bool dp = kernel_.precision == Precision::dp;
  const int wide = dp && !whole_register_ && (code.map == 2 || evex_) ? 1 : 0;
  const int reg3 = (reg >> 3 & 1) ^ 1;
  const int rm3 = (rm_high & 1) ^ 1;
  if (evex_) {
    const int rm4 = (rm_high >> 1 & 1) ^ 1;
    const int reg4 = (reg >> 4 & 1) ^ 1;
    put({0x62, reg3 << 7 | rm4 << 6 | rm3 << 5 | reg4 << 4 | code.map,
         wide << 7 | (~second & 15) << 3 | 4 | code.prefix, 0x40 | ((second >> 4 & 1) ^ 1) << 3,
         code.opcode});
  } else if (vex_) {
    const int length = kernel_.isa == Isa::avx2 ? 1 : 0;
    put({0xC4, reg3 << 7 | 1 << 6 | rm3 << 5 | code.map,
         wide << 7 | (~second & 15) << 3 | length << 2 | code.prefix, code.opcode});
  } else {
    if (code.prefix != none) put({kLegacy[code.prefix]});
    const int rex = 0x40 | (reg >> 3 & 1) << 2 | (rm_high & 1);
    if (rex != 0x40) put({rex});
    put({0x0F, code.opcode});
  }
}

void Encoder::registers(Encoding code, int reg, int second, int rm) {
  head(code, reg, second, rm >> 3);
  put({0xC0 | (reg & 7) << 3 | (rm & 7)});
}

void Encoder::vector_memory(Encoding code, int reg, Reg base, std::int64_t offset) {
  // Bit 4 of a base does not exist; EVEX reads that place as the index, absent when it is 0.
  head(code, reg, 0, base >> 3);
  memory(reg, base, offset);
}

void Encoder::prologue() {
  for (const Reg reg : kSaved) {
    if (reg >= r8) put({0x41});
    put({0x50 | (reg & 7)});
  }
  integer_memory(0x8B, rcx, rdi, offsetof(Arguments, trips));
  if (kernel_.stride == 0) {
    integer_memory(0x8B, kI, rdi, offsetof(Arguments, accumulator));
    integer_memory(0x8B, kP, rdi, offsetof(Arguments, p));
    integer_memory(0x8B, kQ, rdi, offsetof(Arguments, q));
    integer_memory(0x8B, kR, rdi, offsetof(Arguments, r));
  }
  for (int stream = 0; stream < kernel_.streams; ++stream) {
    const auto at = static_cast<std::int64_t>(offsetof(Arguments, streams)) + 8 * stream;
    integer_memory(0x8B, kPointer[static_cast<std::size_t>(stream)], rdi, at);
    if (kernel_.stride == 0) continue;
    integer_memory(0x8B, kBase[static_cast<std::size_t>(stream)], rdi, at);
    integer_memory(0x03, kPointer[static_cast<std::size_t>(stream)], rdi,
                   offsetof(Arguments, position));
  }
  if (kernel_.stride != 0) {
    integer(0x89, rdx, kBase[0]);
    integer_memory(0x03, rdx, rdi, offsetof(Arguments, span));
  }
  // All registers may be taken by now: during the loop rdi points to the vectors.
  put({0x57});  // push rdi
  integer_memory(0x8B, rdi, rdi, offsetof(Arguments, vectors));
  whole_register_ = true;
  for (int reg = 0; reg < kFirstAccumulator + accumulators(kernel_.isa); ++reg)
    vector_memory(full_move(false), reg, rdi, static_cast<std::int64_t>(reg) * kMaxVectorBytes);
  whole_register_ = false;
}

void Encoder::epilogue() {
  whole_register_ = true;
  for (int reg = 0; reg < kFirstAccumulator + accumulators(kernel_.isa); ++reg)
    vector_memory(full_move(true), reg, rdi, static_cast<std::int64_t>(reg) * kMaxVectorBytes);
  put({0x5F});                                              // pop rdi
  if (evex_ || vex_) put({0xC5, 0xF8, 0x77});               // vzeroupper
  if (kernel_.uses(Op::nt_store)) put({0x0F, 0xAE, 0xF8});  // sfence
  if (kernel_.stride == 0) {
    integer_memory(0x89, kI, rdi, offsetof(Arguments, accumulator));
    if (kernel_.streams > 0) integer_memory(0x89, rsi, rdi, offsetof(Arguments, streams));
  } else {
    integer(0x29, kPointer[0], kBase[0]);
    integer_memory(0x89, kPointer[0], rdi, offsetof(Arguments, position));
  }
  for (auto reg = kSaved.rbegin(); reg != kSaved.rend(); ++reg) {
    if (*reg >= r8) put({0x41});
    put({0x58 | (*reg & 7)});
  }
  put({0xC3});
}

void Encoder::integer_step(const Step& step) {
  switch (step.op) {
    case Op::int_add:  // between registers: an immediate could be folded away by the renamer
      integer(0x01, kI, kP);
      return;
    case Op::int_div:
      put({0x31, 0xD2});             // xor edx, edx
      put({0x48, 0xF7, 0xF0 | kP});  // div rbx
      integer(0x09, kI, kQ);         // or rax, r12
      return;
    case Op::lcg_branch:
      put({0x49, 0x0F, 0xAF, 0xC4});        // imul rax, r12
      integer(0x01, kI, kR);                // add rax, r13
      put({0x48, 0x0F, 0xBA, 0xE0, 62});    // bt rax, 62
      put({0x72, 0x03, 0x0F, 0x1F, 0x00});  // jc over a 3-byte nop
      return;
    case Op::jump:  // 16 bytes each: a few branches per line, as branch predictors expect
      put({0xEB, 14});
      for (int i = 0; i < 14; ++i) put({0x90});
      return;
    case Op::atomic_add:  // lock add [rsi], rbx
      put({0xF0});
      integer_memory(0x01, kP, rsi, step.offset);
      return;
    default:
      integer_memory(0x8B, rsi, rsi, step.offset);
      return;
  }
}

void Encoder::arithmetic(const Step& step) {
  constexpr int kM = 0;
  constexpr int kA = 1;
  const int reg = step.reg + kFirstAccumulator;
  const Encoding code = encoding_of(step.op);
  switch (step.op) {
    case Op::add:
      return registers(code, reg, reg, kA);
    case Op::mul:
    case Op::div:
    case Op::bit_or:
      return registers(code, reg, reg, kM);
    case Op::fma:
    case Op::fma_into:
      return registers(code, reg, kM, kA);
    case Op::sqrt:
      return registers(code, reg, scalar_ ? reg : 0, reg);
    default:  // VEX's packed square root has no second source: it must be given as 0
      return registers(code, reg, 0, kM);
  }
}

void Encoder::step(const Step& step) {
  switch (step.op) {
    case Op::add:
    case Op::mul:
    case Op::fma:
    case Op::fma_into:
    case Op::div:
    case Op::sqrt:
    case Op::sqrt_of_m:
    case Op::bit_or:
      return arithmetic(step);
    case Op::load:
    case Op::store:
    case Op::nt_store:
      return vector_memory(encoding_of(step.op), step.reg + kFirstAccumulator,
                           kPointer[step.stream], step.offset);
    default:
      return integer_step(step);
  }
}

void Encoder::advance() {
  if (kernel_.stride == 0) return;
  for (int stream = 0; stream < kernel_.streams; ++stream) {
    const Reg pointer = kPointer[static_cast<std::size_t>(stream)];
    integer_memory(0x8D, pointer, pointer, kernel_.stride);  // lea
  }
  integer(0x39, kPointer[0], rdx);  // cmp
  for (int stream = 0; stream < kernel_.streams; ++stream) {
    const Reg pointer = kPointer[static_cast<std::size_t>(stream)];
    const Reg base = kBase[static_cast<std::size_t>(stream)];
    put({0x48 | (pointer >> 3) << 2 | base >> 3, 0x0F, 0x43,  // cmovae
         0xC0 | (pointer & 7) << 3 | (base & 7)});
  }
}

Bytes Encoder::emit() {
  prologue();
  while (out_.size() % 64 != 0) put({0x90});
  const auto loop = static_cast<std::int64_t>(out_.size());
  for (const Step& each : kernel_.body) step(each);
  advance();
  put({0x48, 0xFF, 0xC9});  // dec rcx
  put({0x0F, 0x85});        // jnz
  put32(loop - static_cast<std::int64_t>(out_.size()) - 4);
  epilogue();
  return std::move(out_);
}

}  // namespace

Bytes emit_x86(const Kernel& kernel) { return Encoder(kernel).emit(); }

}  // namespace loft::machine
