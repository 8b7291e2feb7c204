#include "machine/kernel.hpp"

#include <algorithm>
#include <array>

namespace loft::machine {
namespace {

constexpr std::array<std::string_view, 7> kPeakNames{"add",   "mul", "muladd", "fma",
                                                     "mixed", "div", "sqrt"};
constexpr std::array<std::string_view, 6> kMemoryNames{"load", "store",   "2ld1st",
                                                       "copy", "ntstore", "ntcopy"};

// Enough operations per trip that the loop's own instructions hide behind them; a trip through
// memory stays well inside the smallest first-level cache.
constexpr int kPeakSteps = 96;
constexpr int kMemorySteps = 384;
constexpr int kMostTripBytes = 12 << 10;

// The pattern of operations that a trip repeats over the accumulators.
std::vector<Op> pattern_of(Isa isa, PeakOp op, Mix mix) {
  // Where there is a choice, the form that adds a constant: on some cores its operands travel
  // better.
  const Op fused = isa == Isa::neon || isa == Isa::sve ? Op::fma_into : Op::fma;
  switch (op) {
    case PeakOp::add:
      return {Op::add};
    case PeakOp::mul:
      return {Op::mul};
    case PeakOp::muladd:
      return {Op::mul, Op::add};
    case PeakOp::fma:
      return {fused};
    case PeakOp::div:
      return {Op::div};
    case PeakOp::sqrt:
      return {Op::sqrt_of_m};
    case PeakOp::mixed:
      break;
  }
  // Two rounds of each kind at a time: both pipes of a kind get work in the same cycle.
  std::vector<Op> pattern(static_cast<std::size_t>(2 * mix.fma), fused);
  pattern.insert(pattern.end(), static_cast<std::size_t>(2 * mix.add), Op::add);
  return pattern;
}

std::size_t flops_per_lane(Op op) {
  switch (op) {
    case Op::fma:
    case Op::fma_into:
      return 2;
    case Op::add:
    case Op::mul:
    case Op::div:
    case Op::sqrt:
    case Op::sqrt_of_m:
      return 1;
    default:
      return 0;
  }
}

// Each accumulator keeps to one kind of operation, so that every chain is as short as its kind.
// Registers are shared out as the latencies of the kinds ask for: an FMA takes a cycle longer.
std::vector<Step> spread_over_registers(const std::vector<Op>& pattern, int registers) {
  const auto is_add = [](Op op) { return op == Op::add; };
  const bool two_kinds = std::any_of(pattern.begin(), pattern.end(), is_add) &&
                         !std::all_of(pattern.begin(), pattern.end(), is_add);
  const auto adds = static_cast<int>(std::count_if(pattern.begin(), pattern.end(), is_add));
  const int others = static_cast<int>(pattern.size()) - adds;
  const int for_adds =
      !two_kinds ? 0 : std::clamp(registers * adds * 3 / (adds * 3 + others * 4), 1, registers - 1);
  std::vector<Step> body;
  int next_add = 0;
  int next_other = for_adds;
  const int trips = std::max(1, kPeakSteps / static_cast<int>(pattern.size()));
  for (int i = 0; i < trips * static_cast<int>(pattern.size()); ++i) {
    const Op op = pattern[static_cast<std::size_t>(i) % pattern.size()];
    if (two_kinds && op == Op::add) {
      body.push_back({op, static_cast<std::uint8_t>(next_add)});
      next_add = (next_add + 1) % for_adds;
    } else {
      body.push_back({op, static_cast<std::uint8_t>(next_other)});
      next_other = next_other + 1 == registers ? for_adds : next_other + 1;
    }
  }
  return body;
}

// Which memory operations one vector of progress takes, with the array that each is on.
std::vector<Step> accesses_of(MemoryOp op) {
  switch (op) {
    case MemoryOp::load:
      return {{Op::load, 0, 0}};
    case MemoryOp::store:
      return {{Op::store, 0, 0}};
    case MemoryOp::nt_store:
      return {{Op::nt_store, 0, 0}};
    case MemoryOp::copy:
      return {{Op::load, 0, 0}, {Op::store, 0, 1}};
    case MemoryOp::nt_copy:
      return {{Op::load, 0, 0}, {Op::nt_store, 0, 1}};
    case MemoryOp::load2_store1:
      break;
  }
  // The store keeps one of the two loaded values: nothing is computed on the way.
  return {{Op::load, 0, 0}, {Op::load, 1, 1}, {Op::store, 0, 2}};
}

}  // namespace

std::string_view name_of(PeakOp op) { return kPeakNames[static_cast<std::size_t>(op)]; }

std::string_view name_of(MemoryOp op) { return kMemoryNames[static_cast<std::size_t>(op)]; }

bool Kernel::uses(Op op) const {
  return std::any_of(body.begin(), body.end(), [op](const Step& step) { return step.op == op; });
}

double Kernel::flops() const {
  std::size_t per_lane = 0;
  for (const Step& step : body) per_lane += flops_per_lane(step.op);
  return static_cast<double>(per_lane * lanes());
}

double Kernel::bytes() const {
  const auto moves = std::count_if(body.begin(), body.end(), [](const Step& step) {
    return step.op == Op::load || step.op == Op::store || step.op == Op::nt_store;
  });
  return static_cast<double>(moves) * static_cast<double>(vector_bytes());
}

OpKind kind_of(Op op) {
  if (op <= Op::bit_or) return OpKind::arithmetic;
  if (op <= Op::nt_store) return OpKind::vector_memory;
  if (op <= Op::swap_halves) return OpKind::vector_integer;
  if (op <= Op::vector_to_int) return OpKind::between_files;
  if (op <= Op::int_div_of_q) return OpKind::integer_arithmetic;
  return op <= Op::slot_chase ? OpKind::integer_memory : OpKind::control;
}

int integers_of(const Kernel& kernel) {
  return kernel.stride != 0 ? 0 : kIntegers - std::max(0, kernel.streams - 1);
}

int accumulators(Isa isa) {
  return isa == Isa::avx512 || isa == Isa::neon || isa == Isa::sve ? 30 : 14;
}

Kernel peak_kernel(Isa isa, Precision precision, PeakOp op, Mix mix) {
  Kernel kernel{isa, precision, 0, 0, {}};
  kernel.body = spread_over_registers(pattern_of(isa, op, mix), accumulators(isa));
  return kernel;
}

int arrays_of(MemoryOp op) {
  switch (op) {
    case MemoryOp::load:
    case MemoryOp::store:
    case MemoryOp::nt_store:
      return 1;
    case MemoryOp::copy:
    case MemoryOp::nt_copy:
      return 2;
    case MemoryOp::load2_store1:
      break;
  }
  return 3;
}

Kernel memory_kernel(Isa isa, MemoryOp op, int streams) {
  Kernel kernel{isa, Precision::dp, 0, 0, {}};
  const std::vector<Step> accesses = accesses_of(op);
  const int arrays = arrays_of(op);
  streams = std::clamp(streams, 1, kMaxStreams / arrays);
  kernel.streams = streams * arrays;
  const int per_vector = static_cast<int>(accesses.size()) * streams;
  const int width = static_cast<int>(kernel.vector_bytes());
  // SVE addresses no more than 255 vectors behind a pointer.
  const int most_steps = isa == Isa::sve ? 240 : kMemorySteps;
  const int steps = std::min(most_steps, kMostTripBytes / width);
  // A whole number of cache lines, so that streams stay aligned to them whatever the width.
  const int line = std::max(1, 64 / width);
  const int vectors = std::max(1, steps / per_vector / line) * line;
  kernel.stride = static_cast<std::uint32_t>(vectors * width);
  const int registers = accumulators(isa);
  int reg = 0;
  for (int vector = 0; vector < vectors; ++vector) {
    for (int stream = 0; stream < streams; ++stream) {
      for (const Step& access : accesses)
        kernel.body.push_back({access.op, static_cast<std::uint8_t>((reg + access.reg) % registers),
                               static_cast<std::uint8_t>(stream * arrays + access.stream),
                               vector * width});
      reg = (reg + arrays) % registers;
    }
  }
  return kernel;
}

Kernel chain_kernel(Op op, int count) {
  Kernel kernel;
  kernel.streams = op == Op::atomic_add || op == Op::chase ? 1 : 0;
  kernel.body.assign(static_cast<std::size_t>(count), Step{op});
  return kernel;
}

namespace {

// Gives out the registers of both kinds in turns.
class Registers {
 public:
  explicit Registers(const Kernel& kernel)
      : integers_(integers_of(kernel)), vectors_(accumulators(kernel.isa)) {}

  Step with_register(Step step) {
    const OpKind kind = kind_of(step.op);
    const bool is_vector = kind == OpKind::arithmetic || kind == OpKind::vector_memory ||
                           kind == OpKind::vector_integer;
    int& next = is_vector ? next_vector_ : next_integer_;
    step.reg = static_cast<std::uint8_t>(next);
    next = (next + 1) % (is_vector ? vectors_ : integers_);
    return step;
  }

 private:
  int integers_;
  int vectors_;
  int next_integer_ = 0;
  int next_vector_ = 0;
};

}  // namespace

Kernel independent_kernel(Isa isa, int streams, const std::vector<Step>& pattern, int steps) {
  Kernel kernel{isa, Precision::dp, streams, 0, {}};
  Registers registers(kernel);
  while (static_cast<int>(kernel.body.size()) < steps)
    for (const Step& step : pattern) kernel.body.push_back(registers.with_register(step));
  return kernel;
}

Kernel repeated_kernel(Isa isa, int streams, const std::vector<Step>& pattern, int times) {
  Kernel kernel{isa, Precision::dp, streams, 0, {}};
  for (int i = 0; i < times; ++i)
    kernel.body.insert(kernel.body.end(), pattern.begin(), pattern.end());
  return kernel;
}

Kernel spaced_chases_kernel(int fillers) {
  Kernel kernel{Isa::scalar, Precision::dp, 2, 0, {}};
  // Of three kinds, since each kind has registers for fewer operations than the window holds.
  const Kernel filler = independent_kernel(
      Isa::scalar, 2, {{Op::int_add}, {Op::vector_int_add}, {Op::int_compare}}, fillers);
  for (std::uint8_t stream = 0; stream < 2; ++stream) {
    kernel.body.push_back({Op::chase, 0, stream});
    kernel.body.insert(kernel.body.end(), filler.body.begin(), filler.body.begin() + fillers);
  }
  return kernel;
}

Kernel slots_kernel(int count) {
  Kernel kernel{Isa::scalar, Precision::dp, 1, 0, {}};
  for (int i = 0; i < count; ++i) kernel.body.push_back({Op::slot_chase, 0, 0, 8 * i});
  return kernel;
}

Kernel sqrt_chain_kernel(int count) {
  Kernel kernel;
  for (int i = 0; i < count; ++i) {
    kernel.body.push_back({Op::sqrt});
    kernel.body.push_back({Op::bit_or});
  }
  return kernel;
}

}  // namespace loft::machine
