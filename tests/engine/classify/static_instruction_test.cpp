// Facts for a model of a core, against instructions written by hand.
#include "engine/classify/static_instruction.hpp"

#include <gtest/gtest.h>

#include "engine/classify/decoded.hpp"

namespace loft::engine {
namespace {

using L = LatencyClass;

StaticInstruction of(std::string_view hex, std::uint64_t address = 0x1000) {
  const auto decoded = decode(from_hex(hex));
  EXPECT_TRUE(decoded) << hex;
  if (!decoded) return {};
  return describe_static(decoded->instruction, decoded->operands, address);
}

RegisterMask general(int number) { return register_bit(kGeneralBit + number); }
RegisterMask vector(int number) { return register_bit(kVectorBit + number); }
const RegisterMask kAllFlags = register_bit(kCarryBit) | register_bit(kFlagsBit);

TEST(StaticInstruction, AddOfRegistersReadsBothAndWritesFlags) {
  const auto add = of("4801d8");  // add rax, rbx
  EXPECT_EQ(add.reads, general(kRax) | general(kRbx));
  EXPECT_EQ(add.writes, general(kRax) | kAllFlags);
  EXPECT_EQ(add.latency, L::int_simple);
  EXPECT_EQ(add.operand_bytes, 8);
  EXPECT_EQ(add.compute_uops, 1);
  EXPECT_EQ(add.loads + add.stores, 0);
}

TEST(StaticInstruction, IncLeavesTheCarryAndAdcReadsIt) {
  EXPECT_EQ(of("48ffc0").writes, general(kRax) | register_bit(kFlagsBit));  // inc rax
  EXPECT_TRUE((of("4811d8").reads & register_bit(kCarryBit)) != 0);         // adc rax, rbx
}

TEST(StaticInstruction, LoadWaitsForItsAddressAlone) {
  const auto load = of("488b4708");  // mov rax, [rdi + 8]
  EXPECT_EQ(load.reads, general(kRdi));
  EXPECT_EQ(load.address_reads, general(kRdi));
  EXPECT_EQ(load.writes, general(kRax));
  EXPECT_EQ(load.loads, 1);
  EXPECT_EQ(load.load_bytes, 8);
  EXPECT_EQ(load.compute_uops, 0);
}

TEST(StaticInstruction, StoreTellsAddressFromData) {
  const auto store = of("48890491");  // mov [rcx + rdx * 4], rax
  EXPECT_EQ(store.reads, general(kRax) | general(kRcx) | general(kRdx));
  EXPECT_EQ(store.address_reads, general(kRcx) | general(kRdx));
  EXPECT_EQ(store.writes, 0u);
  EXPECT_EQ(store.stores, 1);
  EXPECT_EQ(store.store_bytes, 8);
}

TEST(StaticInstruction, ReadModifyWriteLoadsComputesAndStores) {
  const auto add = of("48011e");  // add [rsi], rbx
  EXPECT_EQ(add.loads, 1);
  EXPECT_EQ(add.stores, 1);
  EXPECT_EQ(add.compute_uops, 1);
  EXPECT_EQ(add.address_reads, general(kRsi));
}

TEST(StaticInstruction, ZeroingWaitsForNothing) {
  const auto zero = of("31c0");  // xor eax, eax
  EXPECT_TRUE(zero.is_zeroing);
  EXPECT_EQ(zero.reads, 0u);
  EXPECT_EQ(zero.writes, general(kRax) | kAllFlags);
  EXPECT_EQ(zero.compute_uops, 0);
  EXPECT_FALSE(of("31d8").is_zeroing);     // xor eax, ebx
  EXPECT_TRUE(of("c5f957c0").is_zeroing);  // vxorpd xmm0, xmm0, xmm0
  EXPECT_EQ(of("c5f957c0").reads, 0u);
}

TEST(StaticInstruction, MovesBetweenRegistersAreRenamed) {
  EXPECT_TRUE(of("4889d8").is_register_move);  // mov rax, rbx
  EXPECT_EQ(of("4889d8").compute_uops, 0);
  EXPECT_FALSE(of("88d8").is_register_move);                  // mov al, bl keeps the rest
  EXPECT_TRUE(of("c5fc28c1").is_register_move);               // vmovaps ymm0, ymm1
  EXPECT_EQ(of("66480f6ec0").latency, L::general_to_vector);  // movq xmm0, rax
  EXPECT_EQ(of("66480f7ec0").latency, L::vector_to_general);  // movq rax, xmm0
}

TEST(StaticInstruction, ALoadExtendsWhatItLoads) {
  EXPECT_EQ(of("0fb606").latency, L::move);  // movzx eax, byte [rsi]
  EXPECT_EQ(of("0fb606").compute_uops, 0);
  EXPECT_EQ(of("48630e").latency, L::move);        // movsxd rcx, dword [rsi]
  EXPECT_EQ(of("0fb6c3").latency, L::int_simple);  // movzx eax, bl
  EXPECT_EQ(of("4898").latency, L::int_simple);    // cdqe
}

TEST(StaticInstruction, MultiplicationAndDivision) {
  EXPECT_EQ(of("480fafc3").latency, L::int_mul);  // imul rax, rbx
  const auto div = of("48f7f3");                  // div rbx
  EXPECT_EQ(div.latency, L::int_div);
  EXPECT_TRUE(div.is_divide);
  EXPECT_EQ(div.reads, general(kRax) | general(kRdx) | general(kRbx));
}

TEST(StaticInstruction, FloatingPoint) {
  const auto fma = of("c4e2f5b8d8");  // vfmadd231pd ymm3, ymm1, ymm0
  EXPECT_TRUE(fma.is_fma);
  EXPECT_EQ(fma.latency, L::fp_fma);
  EXPECT_EQ(fma.vector_bytes, 32);
  EXPECT_EQ(fma.reads, vector(0) | vector(1) | vector(3));
  EXPECT_EQ(fma.writes, vector(3));
  const auto divide = of("f20f5ec1");  // divsd xmm0, xmm1
  EXPECT_TRUE(divide.is_divide);
  EXPECT_EQ(divide.vector_bytes, 8);
  EXPECT_TRUE(of("f20f51c1").is_sqrt);                      // sqrtsd xmm0, xmm1
  EXPECT_EQ(of("f20f58c1").latency, L::fp_add);             // addsd xmm0, xmm1
  EXPECT_EQ(of("f20f59c1").latency, L::fp_mul);             // mulsd xmm0, xmm1
  EXPECT_EQ(of("c5fc58c1").vector_bytes, 32);               // vaddps ymm0, ymm0, ymm1
  EXPECT_EQ(of("c4e37d19c101").latency, L::lane_crossing);  // vextractf128 xmm1, ymm0, 1
}

TEST(StaticInstruction, X87) {
  EXPECT_EQ(of("dec1").latency, L::x87_add);         // faddp
  EXPECT_TRUE(of("def9").is_divide);                 // fdivp
  EXPECT_TRUE(of("d9fa").is_sqrt);                   // fsqrt
  EXPECT_EQ(of("d9fe").latency, L::transcendental);  // fsin
}

TEST(StaticInstruction, BranchesHaveTargets) {
  const auto jump = of("75f6", 0x2000);  // jne back
  EXPECT_EQ(jump.branch, BranchKind::conditional);
  EXPECT_EQ(jump.target, 0x2000u + 2 - 10);
  EXPECT_EQ(jump.reads, register_bit(kFlagsBit));
  const auto call = of("e800010000", 0x2000);
  EXPECT_EQ(call.branch, BranchKind::call);
  EXPECT_EQ(call.target, 0x2105u);
  EXPECT_EQ(call.stores, 1);
  EXPECT_TRUE(call.is_stack);
  EXPECT_EQ(of("c3").branch, BranchKind::ret);
  EXPECT_EQ(of("c3").loads, 1);
  EXPECT_EQ(of("ffe0").target, 0u);  // jmp rax
}

TEST(StaticInstruction, OrderAndExchange) {
  EXPECT_TRUE(of("f0480fb11e").is_atomic);      // lock cmpxchg [rsi], rbx
  EXPECT_TRUE(of("488703").is_atomic);          // xchg [rbx], rax
  EXPECT_TRUE(of("0faef0").is_fence);           // mfence
  EXPECT_TRUE(of("0f1807").is_prefetch);        // prefetchnta [rdi]
  EXPECT_TRUE(of("660fe707").is_non_temporal);  // movntdq [rdi], xmm0
}

TEST(StaticInstruction, StringsRepeat) {
  const auto fill = of("f3aa");  // rep stosb
  EXPECT_TRUE(fill.is_repeated);
  EXPECT_EQ(fill.latency, L::string);
  EXPECT_EQ(fill.reads & (general(kRcx) | general(kRdi) | general(kRax)),
            general(kRcx) | general(kRdi) | general(kRax));
}

TEST(StaticInstruction, BitsAreCountedSlowerThanTheyAreCleared) {
  EXPECT_EQ(of("f3480fb8c3").latency, L::int_bit);     // popcnt rax, rbx
  EXPECT_EQ(of("f3480fbcc3").latency, L::int_bit);     // tzcnt rax, rbx
  EXPECT_EQ(of("f2480f38f1c3").latency, L::int_mul);   // crc32 rax, rbx
  EXPECT_EQ(of("c4e2e3f5c1").latency, L::int_mul);     // pdep rax, rbx, rcx
  EXPECT_EQ(of("c4e2f8f3cb").latency, L::int_simple);  // blsr rax, rbx
  EXPECT_EQ(of("480fbae003").latency, L::int_simple);  // bt rax, 3
}

TEST(StaticInstruction, LeaOfThreePartsIsSlow) {
  EXPECT_EQ(of("488d0418").latency, L::int_simple);  // lea rax, [rax + rbx]
  EXPECT_EQ(of("488d441808").latency, L::lea_slow);  // lea rax, [rax + rbx + 8]
  EXPECT_EQ(of("488d0418").loads, 0);
}

}  // namespace
}  // namespace loft::engine
