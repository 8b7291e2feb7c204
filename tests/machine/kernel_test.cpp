// Every kernel that may be planned is assembled, run for a few trips and compared with the
// interpreter, bit by bit.
#include "machine/kernel.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "machine/check.hpp"

namespace loft::machine {
namespace {

constexpr PeakOp kPeakOps[] = {PeakOp::add,   PeakOp::mul, PeakOp::muladd, PeakOp::fma,
                               PeakOp::mixed, PeakOp::div, PeakOp::sqrt};
constexpr MemoryOp kMemoryOps[] = {MemoryOp::load, MemoryOp::store,    MemoryOp::load2_store1,
                                   MemoryOp::copy, MemoryOp::nt_store, MemoryOp::nt_copy};

bool runs_here(const Kernel& kernel) {
  const IsaSupport support = isa_support();
  for (const Isa isa : support.usable)
    if (isa == kernel.isa) return support.fma || !kernel.uses_fma();
  return false;
}

std::string failure_of(const Kernel& kernel) {
  const auto code = assemble(kernel);
  if (!code) return to_string(code.error());
  const auto verdict = check(kernel, *code);
  return verdict ? std::string() : to_string(verdict.error());
}

TEST(Kernel, EveryPeakComputesWhatItSays) {
  int checked = 0;
  for (const Isa isa : isa_support().usable) {
    for (const Precision precision : {Precision::sp, Precision::dp}) {
      for (const PeakOp op : kPeakOps) {
        const Kernel kernel = peak_kernel(isa, precision, op, {1, 1});
        if (!runs_here(kernel)) continue;
        EXPECT_EQ(failure_of(kernel), "") << name_of(isa) << name_of(precision) << name_of(op);
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 20);
}

TEST(Kernel, EveryWalkThroughMemoryMovesWhatItSays) {
  for (const Isa isa : isa_support().usable) {
    for (const MemoryOp op : kMemoryOps) {
      const bool vector_only = op == MemoryOp::nt_store || op == MemoryOp::nt_copy;
      if (vector_only && (isa == Isa::scalar || isa == Isa::neon || isa == Isa::sve)) continue;
      for (int streams = 1; streams * arrays_of(op) <= kMaxStreams; ++streams)
        EXPECT_EQ(failure_of(memory_kernel(isa, op, streams)), "")
            << name_of(isa) << " " << name_of(op) << " x" << streams;
    }
  }
}

TEST(Kernel, EveryChainComputesWhatItSays) {
  for (const Op op : {Op::add, Op::mul, Op::fma_into, Op::div, Op::sqrt, Op::bit_or, Op::int_add,
                      Op::int_div, Op::lcg_branch, Op::jump, Op::atomic_add, Op::chase})
    EXPECT_EQ(failure_of(chain_kernel(op, 16)), "") << static_cast<int>(op);
  EXPECT_EQ(failure_of(sqrt_chain_kernel(8)), "");
}

#if defined(__x86_64__)
TEST(Kernel, EveryIntegerOperationComputesWhatItSaysInEveryRegister) {
  for (const Op op : {Op::int_add, Op::int_mul, Op::int_lea, Op::int_rotate, Op::int_to_double,
                      Op::int_to_vector, Op::vector_to_int, Op::int_compare, Op::int_div_of_q,
                      Op::branch_not_taken, Op::nop, Op::long_nop})
    EXPECT_EQ(failure_of(independent_kernel(Isa::scalar, 0, {{op}}, 20)), "")
        << static_cast<int>(op);
  EXPECT_EQ(failure_of(independent_kernel(
                Isa::scalar, 0, {{Op::int_to_double}, {Op::int_add}, {Op::double_to_int}}, 24)),
            "");
  for (const Op op : {Op::int_load, Op::int_store, Op::int_load_half, Op::int_store_half})
    EXPECT_EQ(failure_of(independent_kernel(Isa::scalar, 2, {{op, 0, 0, 8}, {op, 0, 1, 20}}, 20)),
              "")
        << static_cast<int>(op);
}

TEST(Kernel, EveryVectorIntegerOperationComputesWhatItSaysInEveryWidth) {
  for (const Isa isa : isa_support().usable)
    for (const Op op : {Op::vector_int_add, Op::vector_int_mul, Op::swap_halves, Op::bit_or}) {
      EXPECT_EQ(failure_of(independent_kernel(isa, 0, {{op}}, 40)), "")
          << name_of(isa) << " " << static_cast<int>(op);
    }
}

TEST(Kernel, StoresAreLoadedAgain) {
  EXPECT_EQ(
      failure_of(repeated_kernel(
          Isa::scalar, 2,
          {{Op::int_store_half, 0, 0, 0}, {Op::int_store_half, 0, 0, 4}, {Op::int_load, 0, 1}}, 3)),
      "");
  for (const Isa isa : isa_support().usable)
    EXPECT_EQ(failure_of(repeated_kernel(isa, 2, {{Op::store, 0, 0}, {Op::load, 0, 1}}, 3)), "");
}
#endif

TEST(Kernel, ChasesSideBySideEachGoTheirOwnWay) {
  EXPECT_EQ(failure_of(slots_kernel(20)), "");
  const Kernel spaced = spaced_chases_kernel(7);
  EXPECT_EQ(failure_of(spaced), "");
  EXPECT_EQ(spaced.body.size(), 16u);
  EXPECT_EQ(spaced.body[8].op, Op::chase);
  EXPECT_EQ(spaced.body[8].stream, 1);
}

TEST(Kernel, IndependentOperationsTakeTheRegistersInTurns) {
  const Kernel kernel =
      independent_kernel(Isa::scalar, 2, {{Op::int_add}, {Op::vector_int_add}}, 32);
  EXPECT_EQ(integers_of(kernel), 7) << "the second stream costs one";
  for (std::size_t i = 0; i + 2 < kernel.body.size(); ++i)
    EXPECT_NE(kernel.body[i].reg, kernel.body[i + 2].reg);
}

// The check itself must be able to fail: code of one kernel is not taken for another.
TEST(Kernel, CheckRefusesCodeThatDoesSomethingElse) {
  const auto code = assemble(peak_kernel(Isa::scalar, Precision::dp, PeakOp::add));
  ASSERT_TRUE(code);
  EXPECT_FALSE(check(peak_kernel(Isa::scalar, Precision::dp, PeakOp::mul), *code));
  Kernel shorter = peak_kernel(Isa::scalar, Precision::dp, PeakOp::add);
  shorter.body.pop_back();
  EXPECT_FALSE(check(shorter, *code)) << "one operation less must show";
}

TEST(Kernel, CheckRefusesAStoreThatIsNotClaimed) {
  Kernel claimed = memory_kernel(Isa::scalar, MemoryOp::load2_store1);
  const auto code = assemble(claimed);
  ASSERT_TRUE(code);
  for (Step& step : claimed.body)
    if (step.op == Op::store) step.op = Op::load;
  EXPECT_FALSE(check(claimed, *code));
}

TEST(Kernel, CountsOperationsAndBytes) {
  const Kernel fma = peak_kernel(Isa::avx2, Precision::dp, PeakOp::fma);
  EXPECT_EQ(fma.flops(), static_cast<double>(fma.body.size()) * 8);
  const Kernel single = peak_kernel(Isa::avx2, Precision::sp, PeakOp::add);
  EXPECT_EQ(single.flops(), static_cast<double>(single.body.size()) * 8);
  const Kernel copy = memory_kernel(Isa::sse, MemoryOp::copy);
  EXPECT_EQ(copy.bytes(), 2.0 * copy.stride);
  const Kernel mixed = memory_kernel(Isa::avx2, MemoryOp::load2_store1);
  EXPECT_EQ(mixed.bytes(), 3.0 * mixed.stride);
}

// A chain as long as the pipe is deep must be kept in flight: 2 pipes, 4 cycles of FMA, 3 of ADD.
TEST(Kernel, MixSharesRegistersByLatency) {
  const Kernel kernel = peak_kernel(Isa::avx2, Precision::dp, PeakOp::mixed, {1, 1});
  std::vector<bool> add(16), fma(16);
  for (const Step& step : kernel.body) (step.op == Op::add ? add : fma)[step.reg] = true;
  EXPECT_EQ(std::count(add.begin(), add.end(), true), 6);
  EXPECT_EQ(std::count(fma.begin(), fma.end(), true), 8);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_FALSE(add[i] && fma[i]) << "register " << i;
}

}  // namespace
}  // namespace loft::machine
