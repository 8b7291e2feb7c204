// The instructions of each operation.
#include "machine/emit_x86.hpp"

namespace loft::machine::x86 {

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
    case Op::vector_int_add:
      return {x66, 1, 0xD4};  // paddq
    case Op::vector_int_mul:
      return {x66, 1, 0xF4};  // pmuludq
    case Op::swap_halves:
      return {x66, 1, 0x70};  // pshufd
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

// vpaddq, vpmuludq and vpshufd are told from their kin by W as EVEX writes it.
void Encoder::vector_integer(const Step& step) {
  const int reg = step.reg + kFirstAccumulator;
  const Encoding code = encoding_of(step.op);
  if (step.op != Op::swap_halves)
    return registers(code, reg, reg, step.op == Op::vector_int_mul ? 0 : 1);
  whole_register_ = true;  // W is 0 for a shuffle of doublewords
  registers(code, reg, 0, reg);
  whole_register_ = false;
  put({0x4E});
}

// Between the integer and the vector register of the same number; SSE forms alone.
void Encoder::between_files(const Step& step) {
  const Reg integer = kInteger[step.reg];
  const int vector = step.reg + kFirstAccumulator;
  switch (step.op) {
    case Op::int_to_double:  // cvtsi2sd xmm, r64
      return put({0xF2, 0x48 | (vector >> 3) << 2 | integer >> 3, 0x0F, 0x2A,
                  0xC0 | (vector & 7) << 3 | (integer & 7)});
    case Op::double_to_int:  // cvttsd2si r64, xmm
      return put({0xF2, 0x48 | (integer >> 3) << 2 | vector >> 3, 0x0F, 0x2C,
                  0xC0 | (integer & 7) << 3 | (vector & 7)});
    case Op::int_to_vector:  // movq xmm, r64
      return put({0x66, 0x48 | (vector >> 3) << 2 | integer >> 3, 0x0F, 0x6E,
                  0xC0 | (vector & 7) << 3 | (integer & 7)});
    default:  // movq r64, xmm
      return put({0x66, 0x48 | (vector >> 3) << 2 | integer >> 3, 0x0F, 0x7E,
                  0xC0 | (vector & 7) << 3 | (integer & 7)});
  }
}

void Encoder::integer_arithmetic(const Step& step) {
  const Reg reg = kInteger[step.reg];
  switch (step.op) {
    case Op::int_add:  // between registers: an immediate could be folded away by the renamer
      return integer(0x01, reg, kP);
    case Op::int_mul:
      return put({0x48 | (reg >> 3) << 2 | kP >> 3, 0x0F, 0xAF, 0xC0 | (reg & 7) << 3 | (kP & 7)});
    case Op::int_lea:  // lea reg, [reg + rbx * 4 + 8]
      return put({0x48 | (reg >> 3) << 2 | reg >> 3, 0x8D, 0x44 | (reg & 7) << 3,
                  2 << 6 | kP << 3 | (reg & 7), 8});
    case Op::int_rotate:  // ror reg, 7
      return put({0x48 | reg >> 3, 0xC1, 0xC8 | (reg & 7), 7});
    case Op::int_compare:
      return integer(0x39, kP, kP);
    case Op::int_div_of_q:
      integer(0x89, rax, kQ);        // mov rax, r12
      put({0x31, 0xD2});             // xor edx, edx
      put({0x48, 0xF7, 0xF0 | kP});  // div rbx
      return;
    default:  // Op::int_div
      put({0x31, 0xD2});
      put({0x48, 0xF7, 0xF0 | kP});
      integer(0x09, rax, kQ);  // or rax, r12
  }
}

void Encoder::integer_access(const Step& step) {
  const Reg base = kPointer[step.stream];
  switch (step.op) {
    case Op::int_load:
      return integer_memory(0x8B, kInteger[step.reg], base, step.offset);
    case Op::int_store:
      return integer_memory(0x89, kInteger[step.reg], base, step.offset);
    case Op::int_load_half:
      return half_memory(0x8B, kInteger[step.reg], base, step.offset);
    case Op::int_store_half:
      return half_memory(0x89, kInteger[step.reg], base, step.offset);
    case Op::atomic_add:  // lock add [pointer], rbx
      put({0xF0});
      return integer_memory(0x01, kP, base, step.offset);
    case Op::slot_chase:
      integer_memory(0x8B, rdx, base, step.offset);
      integer_memory(0x8B, rdx, rdx, 0);
      return integer_memory(0x89, rdx, base, step.offset);
    default:  // Op::chase
      return integer_memory(0x8B, base, base, step.offset);
  }
}

void Encoder::control(const Step& step) {
  switch (step.op) {
    case Op::lcg_branch:
      put({0x49, 0x0F, 0xAF, 0xC4});               // imul rax, r12
      integer(0x01, rax, kR);                      // add rax, r13
      put({0x48, 0x0F, 0xBA, 0xE0, 62});           // bt rax, 62
      return put({0x72, 0x03, 0x0F, 0x1F, 0x00});  // jc over a 3-byte nop
    case Op::jump:  // 16 bytes each: a few branches per line, as branch predictors expect
      put({0xEB, 14});
      for (int i = 0; i < 14; ++i) put({0x90});
      return;
    case Op::branch_not_taken:
      integer(0x39, kP, kP);     // cmp rbx, rbx
      return put({0x75, 0x00});  // jne to what follows anyway
    case Op::long_nop:
      return put({0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00});
    default:
      return put({0x90});
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
  switch (kind_of(step.op)) {
    case OpKind::arithmetic:
      return arithmetic(step);
    case OpKind::vector_integer:
      return vector_integer(step);
    case OpKind::vector_memory:
      return vector_memory(encoding_of(step.op), step.reg + kFirstAccumulator,
                           kPointer[step.stream], step.offset);
    case OpKind::between_files:
      return between_files(step);
    case OpKind::integer_arithmetic:
      return integer_arithmetic(step);
    case OpKind::integer_memory:
      return integer_access(step);
    case OpKind::control:
      return control(step);
  }
}

}  // namespace loft::machine::x86
