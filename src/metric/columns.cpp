// Evaluation over columns: one pass over the rows in blocks that stay in the cache, one simple loop
// for each instruction, registers shared as soon as their value was used for the last time.
#include <algorithm>
#include <cmath>
#include <limits>

#include "metric/program.hpp"

namespace loft::metric {
namespace {

constexpr std::size_t kBlock = 1024;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Infinity would come back as a number (1 / inf is 0): it becomes "not available" where it arises.
inline double finite(double value) { return value + (value - value); }

double remainder_of(double a, double b) { return b == 0 ? kNone : std::fmod(a, b); }

double bits_of(Op op, double a, double b) {
  const auto fits = [](double x) { return x >= 0 && x < 0x1p64 && x == std::floor(x); };
  if (!fits(a) || !fits(b)) return kNone;
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  const std::uint64_t result = op == Op::bit_and ? x & y : op == Op::bit_or ? x | y : x ^ y;
  return static_cast<double>(result);
}

double power_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return kNone;  // pow(nan, 0) is 1
  return finite(std::pow(a, b));
}

template <class Function>
void each(const double* a, const double* b, double* out, std::size_t count, Function function) {
  for (std::size_t i = 0; i < count; ++i) out[i] = function(a[i], b[i]);
}

// NaN on either side stays NaN: a comparison with something unknown is unknown.
template <class Function>
void each_truth(const double* a, const double* b, double* out, std::size_t count,
                Function function) {
  each(a, b, out, count, [function](double x, double y) {
    return (function(x, y) ? 1.0 : 0.0) + ((x - x) + (y - y));
  });
}

void apply(Op op, const double* a, const double* b, double* out, std::size_t count) {
  const auto run = [&](auto function) { each(a, b, out, count, function); };
  const auto test = [&](auto function) { each_truth(a, b, out, count, function); };
  switch (op) {
    case Op::add:
      return run([](double x, double y) { return finite(x + y); });
    case Op::subtract:
      return run([](double x, double y) { return finite(x - y); });
    case Op::multiply:
      return run([](double x, double y) { return finite(x * y); });
    case Op::divide:  // x / 0 is infinite or NaN: finite() makes both "not available"
      return run([](double x, double y) { return finite(x / y); });
    case Op::remainder:
      return run([](double x, double y) { return finite(remainder_of(x, y)); });
    case Op::power:
      return run(power_of);
    case Op::minimum:
      return run([](double x, double y) { return (x < y ? x : y) + ((x - x) + (y - y)); });
    case Op::maximum:
      return run([](double x, double y) { return (x > y ? x : y) + ((x - x) + (y - y)); });
    case Op::less:
      return test([](double x, double y) { return x < y; });
    case Op::less_equal:
      return test([](double x, double y) { return x <= y; });
    case Op::greater:
      return test([](double x, double y) { return x > y; });
    case Op::greater_equal:
      return test([](double x, double y) { return x >= y; });
    case Op::equal:
      return test([](double x, double y) { return x == y; });
    case Op::not_equal:
      return test([](double x, double y) { return x != y; });
    default:
      return run([op](double x, double y) { return bits_of(op, x, y); });
  }
}

void select(const double* condition, const double* then, const double* otherwise, double* out,
            std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const double chosen = condition[i] != 0 ? then[i] : otherwise[i];
    out[i] = std::isnan(condition[i]) ? kNone : chosen;
  }
}

}  // namespace

class ColumnRun {
 public:
  explicit ColumnRun(const Program& program)
      : code_(program.code_), result_(program.result_), slots_(code_.size()) {
    assign_slots();
    storage_.resize(slot_count_ * kBlock);
    for (std::size_t i = 0; i < code_.size(); ++i)
      if (code_[i].op == Op::number)
        std::fill_n(slot(i), kBlock, program.literals_[code_[i].a].as_double());
  }

  void run(std::span<const std::span<const double>> columns, std::span<double> out) {
    for (std::size_t start = 0; start < out.size(); start += kBlock) {
      const std::size_t count = std::min(kBlock, out.size() - start);
      for (std::size_t i = 0; i < code_.size(); ++i) step(i, columns, start, count);
      std::copy_n(value(result_, columns, start), count,
                  out.begin() + static_cast<std::ptrdiff_t>(start));
    }
  }

 private:
  // Inputs are read in place and literals are filled once; every other register gets a slot that is
  // free again behind its last use.
  void assign_slots() {
    std::vector<std::size_t> last(code_.size(), 0);
    for (std::size_t i = 0; i < code_.size(); ++i)
      for (int k = 0; k < arity(code_[i].op); ++k) last[operand(i, k)] = i;
    last[result_] = code_.size();
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const Op op = code_[i].op;
      if (op == Op::name) continue;
      if (op == Op::number || free.empty()) {
        slots_[i] = slot_count_++;
      } else {
        slots_[i] = free.back();
        free.pop_back();
      }
      for (int k = 0; k < arity(op); ++k) {
        const std::size_t source = operand(i, k);
        const bool repeated = k > 0 && source == operand(i, k - 1);
        const bool again = k > 1 && source == operand(i, 0);
        if (arity(code_[source].op) > 0 && last[source] == i && !repeated && !again)
          free.push_back(slots_[source]);
      }
    }
  }

  [[nodiscard]] std::size_t operand(std::size_t i, int k) const {
    return k == 0 ? code_[i].a : k == 1 ? code_[i].b : code_[i].c;
  }

  double* slot(std::size_t i) { return storage_.data() + slots_[i] * kBlock; }

  const double* value(std::size_t i, std::span<const std::span<const double>> columns,
                      std::size_t start) {
    if (code_[i].op == Op::name) return columns[code_[i].a].data() + start;
    return slot(i);
  }

  void step(std::size_t i, std::span<const std::span<const double>> columns, std::size_t start,
            std::size_t count) {
    const Instruction& instruction = code_[i];
    if (arity(instruction.op) == 0) return;
    const double* a = value(instruction.a, columns, start);
    double* out = slot(i);
    if (instruction.op == Op::negate) {
      for (std::size_t row = 0; row < count; ++row) out[row] = -a[row];
    } else if (instruction.op == Op::select) {
      select(a, value(instruction.b, columns, start), value(instruction.c, columns, start), out,
             count);
    } else {
      apply(instruction.op, a, value(instruction.b, columns, start), out, count);
    }
  }

  const std::vector<Instruction>& code_;
  std::size_t result_;
  std::vector<std::size_t> slots_;
  std::size_t slot_count_ = 0;
  std::vector<double> storage_;
};

void Program::evaluate_columns(std::span<const std::span<const double>> columns,
                               std::span<double> out) const {
  if (out.empty()) return;
  ColumnRun(*this).run(columns, out);
}

}  // namespace loft::metric
