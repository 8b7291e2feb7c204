// Instructions written by hand, in the terms of the models of a core.
#ifdef LOFT_HAS_ENGINE
#include "source/virtual/core_instruction.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "engine/classify/decoded.hpp"

namespace loft::source::virtual_pmu {
namespace {

using core::general_reg;
using core::Op;
using core::vector_reg;

engine::StaticInstruction of(std::string_view hex) {
  const auto decoded = engine::decode(engine::from_hex(hex));
  EXPECT_TRUE(decoded) << hex;
  if (!decoded) return {};
  return engine::describe_static(decoded->instruction, decoded->operands, 0x1000);
}

core::Instruction instruction(std::string_view hex) { return core_instruction(of(hex), 0x1000, 3); }

TEST(CoreInstruction, TellsTheRegistersOfAddressAndData) {
  const auto store = instruction("48894708");  // mov [rdi + 8], rax
  EXPECT_EQ(store.op, Op::none);
  EXPECT_EQ(store.address_registers, general_reg(engine::kRdi));
  EXPECT_EQ(store.sources, general_reg(engine::kRax));
  EXPECT_EQ(store.destinations, 0u);
  EXPECT_EQ(store.block, 3u);
  EXPECT_EQ(store.length, 4);
}

TEST(CoreInstruction, AddsAndMultiplies) {
  const auto add = instruction("c5fb58c1");  // vaddsd xmm0, xmm0, xmm1
  EXPECT_EQ(add.op, Op::fp_add);
  EXPECT_EQ(add.sources, vector_reg(0) | vector_reg(1));
  EXPECT_EQ(add.destinations, vector_reg(0));
  EXPECT_EQ(instruction("480fafc3").op, Op::int_mul);  // imul rax, rbx
}

TEST(CoreInstruction, ZeroingWaitsForNothing) {
  EXPECT_EQ(instruction("31c0").sources, 0u);  // xor eax, eax
}

TEST(CoreInstruction, TheStackPointerOfAPushIsNobodysWork) {
  const auto push = instruction("53");  // push rbx
  EXPECT_EQ(push.sources, general_reg(engine::kRbx));
  EXPECT_EQ(push.destinations, 0u);
  EXPECT_EQ(push.address_registers, 0u);
}

// The slots that the second of two instructions takes.
int slots_of_second(std::string_view first, std::string_view second) {
  const std::vector<engine::StaticInstruction> block = {of(first), of(second)};
  std::vector<core::Instruction> instructions = {instruction(first), instruction(second)};
  fuse_last(block, instructions);
  EXPECT_EQ(instructions[0].uops, 1);
  return instructions[1].uops;
}

TEST(CoreInstruction, AJumpIsFusedWithWhatSetsItsFlags) {
  EXPECT_EQ(slots_of_second("4839d8", "7510"), 0);    // cmp rax, rbx; jne
  EXPECT_EQ(slots_of_second("83e801", "7510"), 0);    // sub eax, 1; jne
  EXPECT_EQ(slots_of_second("48ffc0", "7210"), 1);    // inc rax; jb: inc sets no carry
  EXPECT_EQ(slots_of_second("480fafc3", "7010"), 1);  // imul rax, rbx; jo
  EXPECT_EQ(slots_of_second("4889d8", "7510"), 1);    // mov rax, rbx; jne
  EXPECT_EQ(slots_of_second("4839d8", "eb10"), 1);    // cmp rax, rbx; jmp
}

}  // namespace
}  // namespace loft::source::virtual_pmu
#endif
