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
