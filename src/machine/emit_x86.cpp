// The frame of a kernel: what it loads at the start, the loop, what it stores at the end.
#include "machine/emit_x86.hpp"

namespace loft::machine {
namespace x86 {
namespace {

constexpr std::array<Reg, 6> kSaved{rbx, rbp, r12, r13, r14, r15};

std::int64_t integer_at(int index) {
  return static_cast<std::int64_t>(offsetof(Arguments, integers)) + 8 * index;
}

std::int64_t stream_at(int stream) {
  return static_cast<std::int64_t>(offsetof(Arguments, streams)) + 8 * stream;
}

}  // namespace

void Encoder::prologue() {
  for (const Reg reg : kSaved) {
    if (reg >= r8) put({0x41});
    put({0x50 | (reg & 7)});
  }
  integer_memory(0x8B, rcx, rdi, offsetof(Arguments, trips));
  if (kernel_.stride == 0) {
    for (int i = 0; i < integers_of(kernel_); ++i)
      integer_memory(0x8B, kInteger[static_cast<std::size_t>(i)], rdi, integer_at(i));
    integer_memory(0x8B, kP, rdi, offsetof(Arguments, p));
    integer_memory(0x8B, kQ, rdi, offsetof(Arguments, q));
    integer_memory(0x8B, kR, rdi, offsetof(Arguments, r));
  }
  for (int stream = 0; stream < kernel_.streams; ++stream) {
    integer_memory(0x8B, kPointer[static_cast<std::size_t>(stream)], rdi, stream_at(stream));
    if (kernel_.stride == 0) continue;
    integer_memory(0x8B, kBase[static_cast<std::size_t>(stream)], rdi, stream_at(stream));
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
    for (int i = 0; i < integers_of(kernel_); ++i)
      integer_memory(0x89, kInteger[static_cast<std::size_t>(i)], rdi, integer_at(i));
    for (int stream = 0; stream < kernel_.streams; ++stream)
      integer_memory(0x89, kPointer[static_cast<std::size_t>(stream)], rdi, stream_at(stream));
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

}  // namespace x86

Bytes emit_x86(const Kernel& kernel) { return x86::Encoder(kernel).emit(); }

}  // namespace loft::machine
