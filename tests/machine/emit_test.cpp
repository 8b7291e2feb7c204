// The bytes of instructions that this CPU may not have, as a disassembler reads them.
#include "machine/emit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace loft::machine {
namespace {

bool contains(const Bytes& code, std::initializer_list<int> bytes) {
  std::vector<std::uint8_t> wanted;
  for (const int byte : bytes) wanted.push_back(static_cast<std::uint8_t>(byte));
  return std::search(code.begin(), code.end(), wanted.begin(), wanted.end()) != code.end();
}

bool contains_word(const Bytes& code, std::uint32_t word) {
  for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
    std::uint32_t there = 0;
    std::memcpy(&there, code.data() + at, 4);
    if (there == word) return true;
  }
  return false;
}

Bytes x86(Isa isa, Precision precision, Step step) {
  return emit_x86({isa, precision, 1, 64, {step}});
}

Bytes arm64(Isa isa, Precision precision, Step step) {
  return emit_arm64({isa, precision, 1, 64, {step}});
}

TEST(EmitX86, ReachesAllRegistersOfAvx512) {
  // vaddpd zmm31, zmm31, zmm1; vfmadd213ps zmm16, zmm0, zmm1; vsqrtpd zmm15, zmm0
  EXPECT_TRUE(contains(x86(Isa::avx512, Precision::dp, {Op::add, 29}),
                       {0x62, 0x61, 0x85, 0x40, 0x58, 0xF9}));
  EXPECT_TRUE(contains(x86(Isa::avx512, Precision::sp, {Op::fma, 14}),
                       {0x62, 0xE2, 0x7D, 0x48, 0xA8, 0xC1}));
  EXPECT_TRUE(contains(x86(Isa::avx512, Precision::dp, {Op::sqrt_of_m, 13}),
                       {0x62, 0x71, 0xFD, 0x48, 0x51, 0xF8}));
  // vmovntpd [rsi+0x40], zmm31
  EXPECT_TRUE(contains(x86(Isa::avx512, Precision::dp, {Op::nt_store, 29, 0, 64}),
                       {0x62, 0x61, 0xFD, 0x48, 0x2B, 0xBE, 0x40, 0, 0, 0}));
}

TEST(EmitX86, UsesLegacyEncodingsWithoutAvx) {
  // addsd xmm2, xmm1; movaps-like loads of 128 bits carry 66 for doubles
  EXPECT_TRUE(contains(x86(Isa::scalar, Precision::dp, {Op::add, 0}), {0xF2, 0x0F, 0x58, 0xD1}));
  const Bytes code = x86(Isa::sse, Precision::dp, {Op::load, 0, 0, 64});
  EXPECT_TRUE(contains(x86(Isa::scalar, Precision::dp, {Op::bit_or, 0}), {0x66, 0x0F, 0x56, 0xD0}))
      << "orpd xmm2, xmm0";
  EXPECT_TRUE(contains(code, {0x66, 0x0F, 0x28, 0x96, 0x40, 0, 0, 0}));
  EXPECT_FALSE(contains(code, {0xC5, 0xF8, 0x77})) << "no vzeroupper on a CPU without AVX";
}

TEST(EmitArm64, EncodesScalarNeonAndSve) {
  EXPECT_TRUE(contains_word(arm64(Isa::scalar, Precision::dp, {Op::fma, 3}), 0x1F4004A5))
      << "fmadd d5, d5, d0, d1";
  EXPECT_TRUE(contains_word(arm64(Isa::neon, Precision::dp, {Op::fma_into, 29}), 0x4E61CC1F))
      << "fmla v31.2d, v0.2d, v1.2d";
  EXPECT_TRUE(contains_word(arm64(Isa::neon, Precision::sp, {Op::add, 0}), 0x4E21D442))
      << "fadd v2.4s, v2.4s, v1.4s";
  EXPECT_TRUE(contains_word(arm64(Isa::neon, Precision::dp, {Op::load, 5, 0, 160}), 0x3DC02847))
      << "ldr q7, [x2, #160]";
  EXPECT_TRUE(contains_word(arm64(Isa::sve, Precision::dp, {Op::fma_into, 0}), 0x65E10002))
      << "fmla z2.d, p0/m, z0.d, z1.d";
  EXPECT_TRUE(contains_word(arm64(Isa::sve, Precision::dp, {Op::div, 0}), 0x65CD8002))
      << "fdiv z2.d, p0/m, z2.d, z0.d";
  EXPECT_TRUE(contains_word(arm64(Isa::scalar, Precision::dp, {Op::bit_or, 0}), 0x4EA01C42))
      << "orr v2.16b, v2.16b, v0.16b";
  EXPECT_TRUE(contains_word(arm64(Isa::sve, Precision::dp, {Op::bit_or, 0}), 0x04603042))
      << "orr z2.d, z2.d, z0.d";
}

TEST(EmitArm64, EncodesOperationsOnIntegers) {
  const auto code = [](Step step) {
    return emit_arm64({Isa::scalar, Precision::dp, 2, 0, {step}});
  };
  EXPECT_TRUE(contains_word(code({Op::int_mul, 0}), 0x9B0A7D29)) << "mul x9, x9, x10";
  EXPECT_TRUE(contains_word(code({Op::int_rotate, 1}), 0x93C81D08)) << "ror x8, x8, #7";
  EXPECT_TRUE(contains_word(code({Op::int_to_double, 0}), 0x9E620122)) << "scvtf d2, x9";
  EXPECT_TRUE(contains_word(code({Op::double_to_int, 0}), 0x9E780049)) << "fcvtzs x9, d2";
  EXPECT_TRUE(contains_word(code({Op::int_to_vector, 0}), 0x9E670122)) << "fmov d2, x9";
  EXPECT_TRUE(contains_word(code({Op::vector_to_int, 0}), 0x9E660049)) << "fmov x9, d2";
  EXPECT_TRUE(contains_word(code({Op::int_load, 0, 1, 8}), 0xF9400469)) << "ldr x9, [x3, #8]";
  EXPECT_TRUE(contains_word(code({Op::int_store_half, 0, 0, 4}), 0xB9000449)) << "str w9, [x2, #4]";
  EXPECT_TRUE(contains_word(code({Op::vector_int_add, 0}), 0x4EE18442))
      << "add v2.2d, v2.2d, v1.2d";
  EXPECT_TRUE(contains_word(code({Op::swap_halves, 0}), 0x6E024042))
      << "ext v2.16b, v2.16b, v2.16b, #8";
  EXPECT_FALSE(arm64_can_emit({Isa::scalar, Precision::dp, 0, 0, {{Op::int_lea}}}));
}

TEST(EmitArm64, EndsWithAReturnAndIsWholeWords) {
  const Bytes code = emit_arm64(chain_kernel(Op::chase, 4));
  ASSERT_EQ(code.size() % 4, 0u);
  EXPECT_TRUE(contains_word(code, 0xF9400042)) << "ldr x2, [x2]";
  std::uint32_t last = 0;
  std::memcpy(&last, code.data() + code.size() - 4, 4);
  EXPECT_EQ(last, 0xD65F03C0u);
}

}  // namespace
}  // namespace loft::machine
