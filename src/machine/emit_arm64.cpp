// The arm64 encoder: scalar and NEON, and SVE of any vector length.
//
// Registers: x0 arguments, x1 trips left, x2 to x7 pointers of the streams, x9 to x14 their first
// bytes, x15 the end of stream 0. Kernels without strides keep p, q and r in x10 to x12, and their
// integers in x9, x8, x15 and in the pointers that they do not use.
// v0 and v1 hold m and a, the accumulators follow. p0 has all lanes of SVE active.
#include <array>
#include <cstddef>

#include "machine/emit.hpp"

namespace loft::machine {
namespace {

using Word = std::uint32_t;

constexpr int kArguments = 0;
constexpr int kTrips = 1;
constexpr int kPointer = 2;
constexpr int kBase = 9;
constexpr std::array<int, kIntegers> kInteger{9, 8, 15, 7, 6, 5, 4, 3};
constexpr int kP = 10, kQ = 11, kR = 12;
constexpr int kScratch = 13, kFlag = 14;
constexpr int kEnd = 15;
constexpr int kVectors = 16;
constexpr int kAddress = 17;
constexpr int kFirstAccumulator = 2;

constexpr Word kNop = 0xD503201F;
constexpr std::array<Word, 4> kSave{0x6DBC27E8, 0x6D012FEA, 0x6D0237EC, 0x6D033FEE};  // d8 to d15
constexpr std::array<Word, 4> kRestore{0x6D433FEE, 0x6D4237EC, 0x6D412FEA, 0x6CC427E8};

// Opcodes of an operation: scalar sp and dp, NEON sp and dp, SVE without its size bits.
struct Opcodes {
  Word scalar_sp, scalar_dp, neon_sp, neon_dp, sve;
};
constexpr Opcodes kAdd{0x1E202800, 0x1E602800, 0x4E20D400, 0x4E60D400, 0x65000000};
constexpr Opcodes kMul{0x1E200800, 0x1E600800, 0x6E20DC00, 0x6E60DC00, 0x65000800};
constexpr Opcodes kFma{0x1F000000, 0x1F400000, 0x4E20CC00, 0x4E60CC00, 0x65200000};
constexpr Opcodes kDiv{0x1E201800, 0x1E601800, 0x6E20FC00, 0x6E60FC00, 0x650D8000};
constexpr Opcodes kSqrt{0x1E21C000, 0x1E61C000, 0x6EA1F800, 0x6EE1F800, 0x650DA000};

class Encoder {
 public:
  explicit Encoder(const Kernel& kernel) : kernel_(kernel) {}
  Bytes emit();

 private:
  void put(Word word) {
    for (int i = 0; i < 4; ++i) out_.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
  static Word fields(Word opcode, int m, int n, int d) {
    return opcode | static_cast<Word>(m) << 16 | static_cast<Word>(n) << 5 | static_cast<Word>(d);
  }
  // ldr and str of a register, `offset` in units of `size` bytes.
  void move(Word opcode, int reg, int base, std::size_t offset, std::size_t size) {
    put(opcode | static_cast<Word>(offset / size) << 10 | static_cast<Word>(base) << 5 |
        static_cast<Word>(reg));
  }
  void load_argument(int reg, std::size_t offset) { move(0xF9400000, reg, kArguments, offset, 8); }
  void store_argument(int reg, std::size_t offset) { move(0xF9000000, reg, kArguments, offset, 8); }
  void add_immediate(int d, int n, Word value);
  void whole_vector(bool store, int reg);
  void prologue();
  void epilogue();
  void arithmetic(const Step& step);
  void vector_memory(const Step& step);
  void vector_integer(const Step& step);
  void between_files(const Step& step);
  void integer_arithmetic(const Step& step);
  void integer_access(const Step& step);
  void control(const Step& step);
  void step(const Step& step);
  void advance();
  [[nodiscard]] Word opcode(const Opcodes& codes) const;

  const Kernel& kernel_;
  Bytes out_;
};

Word Encoder::opcode(const Opcodes& codes) const {
  const bool dp = kernel_.precision == Precision::dp;
  if (kernel_.isa == Isa::sve) return codes.sve | (dp ? 3u : 2u) << 22;
  if (kernel_.isa == Isa::scalar) return dp ? codes.scalar_dp : codes.scalar_sp;
  return dp ? codes.neon_dp : codes.neon_sp;
}

void Encoder::add_immediate(int d, int n, Word value) {
  const Word high = value >> 12;
  const Word low = value & 4095;
  if (high != 0) put(fields(0x91400000 | high << 10, 0, n, d));
  if (low != 0 || high == 0) put(fields(0x91000000 | low << 10, 0, high != 0 ? d : n, d));
}

void Encoder::whole_vector(bool store, int reg) {
  const auto offset = static_cast<std::size_t>(reg) * kMaxVectorBytes;
  if (kernel_.isa != Isa::sve)
    return move(store ? 0x3D800000 : 0x3DC00000, reg, kVectors, offset, 16);
  add_immediate(kAddress, kVectors, static_cast<Word>(offset));
  put(fields(store ? 0xE5804000 : 0x85804000, 0, kAddress, reg));
}

void Encoder::prologue() {
  for (const Word word : kSave) put(word);
  load_argument(kTrips, offsetof(Arguments, trips));
  if (kernel_.stride == 0) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(integers_of(kernel_)); ++i)
      load_argument(kInteger[i], offsetof(Arguments, integers) + 8 * i);
    load_argument(kP, offsetof(Arguments, p));
    load_argument(kQ, offsetof(Arguments, q));
    load_argument(kR, offsetof(Arguments, r));
  } else {
    load_argument(kAddress, offsetof(Arguments, position));
  }
  for (int stream = 0; stream < kernel_.streams; ++stream) {
    const std::size_t at = offsetof(Arguments, streams) + 8 * static_cast<std::size_t>(stream);
    load_argument(kPointer + stream, at);
    if (kernel_.stride == 0) continue;
    load_argument(kBase + stream, at);
    put(fields(0x8B000000, kAddress, kPointer + stream, kPointer + stream));
  }
  if (kernel_.stride != 0) {
    load_argument(kEnd, offsetof(Arguments, span));
    put(fields(0x8B000000, kBase, kEnd, kEnd));
  }
  load_argument(kVectors, offsetof(Arguments, vectors));
  if (kernel_.isa == Isa::sve) put(0x2518E3E0);  // ptrue p0.b
  for (int reg = 0; reg < kFirstAccumulator + accumulators(kernel_.isa); ++reg)
    whole_vector(false, reg);
}

void Encoder::epilogue() {
  for (int reg = 0; reg < kFirstAccumulator + accumulators(kernel_.isa); ++reg)
    whole_vector(true, reg);
  if (kernel_.stride == 0) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(integers_of(kernel_)); ++i)
      store_argument(kInteger[i], offsetof(Arguments, integers) + 8 * i);
    for (int stream = 0; stream < kernel_.streams; ++stream)
      store_argument(kPointer + stream,
                     offsetof(Arguments, streams) + 8 * static_cast<std::size_t>(stream));
  } else {
    put(fields(0xCB000000, kBase, kPointer, kPointer));
    store_argument(kPointer, offsetof(Arguments, position));
  }
  for (const Word word : kRestore) put(word);
  put(0xD65F03C0);  // ret
}

void Encoder::arithmetic(const Step& step) {
  constexpr int kM = 0;
  constexpr int kA = 1;
  const int reg = step.reg + kFirstAccumulator;
  const bool sve = kernel_.isa == Isa::sve;
  switch (step.op) {
    case Op::add:
      return put(fields(opcode(kAdd), kA, reg, reg));
    case Op::mul:
      return put(fields(opcode(kMul), kM, reg, reg));
    case Op::fma:  // only the scalar fmadd names its addend
      return put(fields(opcode(kFma), kM, reg, reg) | static_cast<Word>(kA) << 10);
    case Op::fma_into:
      if (kernel_.isa == Isa::scalar)
        return put(fields(opcode(kFma), kA, kM, reg) | static_cast<Word>(reg) << 10);
      return put(fields(opcode(kFma), kA, kM, reg));
    case Op::div:  // SVE divides its result by the one operand it names
      return put(sve ? fields(opcode(kDiv), 0, kM, reg) : fields(opcode(kDiv), kM, reg, reg));
    case Op::sqrt:
      return put(fields(opcode(kSqrt), 0, reg, reg));
    case Op::bit_or:  // orr of whole registers
      return put(fields(sve ? 0x04603000 : 0x4EA01C00, kM, reg, reg));
    default:
      return put(fields(opcode(kSqrt), 0, kM, reg));
  }
}

void Encoder::vector_memory(const Step& step) {
  const bool store = step.op != Op::load;
  const int reg = step.reg + kFirstAccumulator;
  const int base = kPointer + step.stream;
  const auto offset = static_cast<std::size_t>(step.offset);
  if (kernel_.isa == Isa::neon) return move(store ? 0x3D800000 : 0x3DC00000, reg, base, offset, 16);
  if (kernel_.isa == Isa::scalar) {
    if (kernel_.precision == Precision::dp)
      return move(store ? 0xFD000000 : 0xFD400000, reg, base, offset, 8);
    return move(store ? 0xBD000000 : 0xBD400000, reg, base, offset, 4);
  }
  const auto vectors = static_cast<Word>(offset / kernel_.vector_bytes());
  put(fields(store ? 0xE5804000 : 0x85804000, 0, base, reg) | (vectors >> 3) << 16 |
      (vectors & 7) << 10);
}

// NEON forms.
void Encoder::vector_integer(const Step& step) {
  const int reg = step.reg + kFirstAccumulator;
  if (step.op == Op::vector_int_add) return put(fields(0x4EE08400, 1, reg, reg));
  put(fields(0x6E004000 | 8u << 11, reg, reg, reg));  // ext by 8 bytes
}

void Encoder::between_files(const Step& step) {
  const int integer = kInteger[step.reg];
  const int vector = step.reg + kFirstAccumulator;
  switch (step.op) {
    case Op::int_to_double:
      return put(fields(0x9E620000, 0, integer, vector));  // scvtf
    case Op::double_to_int:
      return put(fields(0x9E780000, 0, vector, integer));  // fcvtzs
    case Op::int_to_vector:
      return put(fields(0x9E670000, 0, integer, vector));  // fmov
    default:
      return put(fields(0x9E660000, 0, vector, integer));
  }
}

void Encoder::integer_arithmetic(const Step& step) {
  const int reg = kInteger[step.reg];
  switch (step.op) {
    case Op::int_add:
      return put(fields(0x8B000000, kP, reg, reg));
    case Op::int_mul:
      return put(fields(0x9B007C00, kP, reg, reg));
    case Op::int_rotate:
      return put(fields(0x93C00000 | 7u << 10, reg, reg, reg));  // extr
    case Op::int_compare:
      return put(fields(0xEB000000, kP, kP, 31));
    case Op::int_div_of_q:
      return put(fields(0x9AC00800, kP, kQ, kInteger[0]));  // udiv
    default:
      put(fields(0x9AC00800, kP, kInteger[0], kInteger[0]));
      return put(fields(0xAA000000, kQ, kInteger[0], kInteger[0]));  // orr
  }
}

void Encoder::integer_access(const Step& step) {
  const int base = kPointer + step.stream;
  const auto offset = static_cast<std::size_t>(step.offset);
  switch (step.op) {
    case Op::int_load:
      return move(0xF9400000, kInteger[step.reg], base, offset, 8);
    case Op::int_store:
      return move(0xF9000000, kInteger[step.reg], base, offset, 8);
    case Op::int_load_half:
      return move(0xB9400000, kInteger[step.reg], base, offset, 4);
    case Op::int_store_half:
      return move(0xB9000000, kInteger[step.reg], base, offset, 4);
    case Op::atomic_add:
      put(fields(0xC85FFC00, 0, base, kScratch));  // ldaxr
      put(fields(0x8B000000, kP, kScratch, kScratch));
      put(fields(0xC800FC00, kFlag, base, kScratch));                    // stlxr
      return put(0x35000000 | (0x7FFFDu & 0x7FFFF) << 5 | Word{kFlag});  // cbnz: again
    case Op::slot_chase:
      move(0xF9400000, kScratch, base, offset, 8);
      move(0xF9400000, kScratch, kScratch, 0, 8);
      return move(0xF9000000, kScratch, base, offset, 8);
    default:
      return move(0xF9400000, base, base, 0, 8);
  }
}

void Encoder::control(const Step& step) {
  constexpr int kI = kInteger[0];
  switch (step.op) {
    case Op::lcg_branch:
      put(fields(0x9B000000 | kR << 10, kQ, kI, kI));    // madd
      put(0xB7000000 | 30u << 19 | 2u << 5 | Word{kI});  // tbnz bit 62, over the nop
      return put(kNop);
    case Op::jump:
      put(0x14000004);
      for (int i = 0; i < 3; ++i) put(kNop);
      return;
    case Op::branch_not_taken:
      put(fields(0xEB000000, kP, kP, 31));  // cmp
      return put(0x54000021);               // b.ne to what follows anyway
    default:
      return put(kNop);
  }
}

void Encoder::step(const Step& step) {
  switch (kind_of(step.op)) {
    case OpKind::arithmetic:
      return arithmetic(step);
    case OpKind::vector_integer:
      return vector_integer(step);
    case OpKind::vector_memory:
      return vector_memory(step);
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

void Encoder::advance() {
  if (kernel_.stride == 0) return;
  for (int stream = 0; stream < kernel_.streams; ++stream)
    add_immediate(kPointer + stream, kPointer + stream, kernel_.stride);
  put(fields(0xEB000000, kEnd, kPointer, 31));  // cmp
  constexpr Word kHigherOrSame = 2;
  for (int stream = 0; stream < kernel_.streams; ++stream)
    put(fields(0x9A800000 | kHigherOrSame << 12, kPointer + stream, kBase + stream,
               kPointer + stream));
}

Bytes Encoder::emit() {
  prologue();
  while (out_.size() % 64 != 0) put(kNop);
  const std::size_t loop = out_.size();
  for (const Step& each : kernel_.body) step(each);
  advance();
  put(0xF1000421);  // subs x1, x1, #1
  const auto back = static_cast<Word>((loop - out_.size()) / 4 & 0x7FFFF);
  put(0x54000001 | back << 5);  // b.ne
  epilogue();
  return std::move(out_);
}

}  // namespace

Bytes emit_arm64(const Kernel& kernel) { return Encoder(kernel).emit(); }

bool arm64_can_emit(const Kernel& kernel) {
  const bool has_vector_integers = kernel.uses(Op::vector_int_add) || kernel.uses(Op::swap_halves);
  return !kernel.uses(Op::int_lea) && !kernel.uses(Op::vector_int_mul) &&
         !(kernel.isa == Isa::sve && has_vector_integers);
}

}  // namespace loft::machine
