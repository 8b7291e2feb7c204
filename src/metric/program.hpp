// A metric, compiled: every name looked up, every nested definition computed once, units checked.
//
//   LOFT_TRY(const Program ipc, compile(library, "IPC", available));
//   ipc.inputs()                        // {"instructions", "cycles"}: what has to be counted
//   const Value value = ipc.evaluate(counts);
//   ipc.evaluate_columns(columns, out)  // the same over millions of slices
//
// A value is a number or "not available" with the reason; nothing in between.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metric/counts.hpp"
#include "metric/library.hpp"

namespace loft::metric {

struct Interval {
  double low = 0;
  double high = 0;
};

struct Value {
  std::optional<Number> number;  // in base units; nothing when it is not available
  sample::Origin kind = sample::Origin::missing;
  std::string why;               // only when not available
  std::optional<Interval> ci95;  // in base units
  bool unreliable = false;       // rests on events too rare for the interval to be believed
};

// Whether an event of this name can be counted or was counted.
using Available = std::function<bool(std::string_view)>;
bool everything_is_available(std::string_view name);

struct Instruction {
  Op op = Op::number;
  std::uint32_t a = 0;  // operands: registers below this one; for a name, the input's index
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

class Program {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& description() const { return description_; }

  // Events that must be counted, in the order that evaluate_columns takes them.
  [[nodiscard]] const std::vector<std::string>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<Constant>& constants() const { return constants_; }
  [[nodiscard]] const Unit& unit() const { return unit_; }
  // What its formula gives; nothing where formulas without units leave it open.
  [[nodiscard]] const std::optional<Dimension>& dimension() const { return dimension_; }
  [[nodiscard]] bool is_model() const { return is_model_; }
  // Of a model: half of its 95 % interval, in base units.
  [[nodiscard]] const std::optional<double>& model_error() const { return model_error_; }
  [[nodiscard]] const std::string& variant() const { return variant_; }

  // Divisors that are not constants, as text: where one is 0 the metric is not available.
  [[nodiscard]] std::vector<std::string> divisors() const;

  // `operands` are aligned with inputs().
  [[nodiscard]] Value evaluate(std::span<const Quantity> operands) const;
  // Looks the inputs up by name first: for counts of which nothing but names is known.
  [[nodiscard]] Value evaluate(const CountSet& counts) const;

  // One column for each input, all as long as `out`. NaN is "not available", in and out.
  void evaluate_columns(std::span<const std::span<const double>> columns,
                        std::span<double> out) const;

  // The change of the result with each input, at these inputs; nothing where it has no value.
  [[nodiscard]] std::optional<std::vector<double>> gradient(std::span<const double> inputs) const;

  // The value in the metric's own unit, as JSON and CSV give it.
  [[nodiscard]] double in_unit(double base_value) const { return base_value / unit_.factor; }

 private:
  friend class Compiler;
  friend class ColumnRun;
  struct Source;  // the definitions it came from, for messages

  [[nodiscard]] std::string divisor_text(std::size_t instruction) const;

  std::string name_;
  std::string description_;
  std::string variant_;
  std::vector<Instruction> code_;  // instruction i computes register i
  std::uint32_t result_ = 0;       // the register with the metric's value
  std::vector<Number> literals_;   // by the `a` of number instructions
  std::vector<std::string> inputs_;
  std::vector<Constant> constants_;
  Unit unit_;
  std::optional<Dimension> dimension_;
  bool is_model_ = false;
  std::optional<double> model_error_;
  std::shared_ptr<const Source> source_;
};

// Errors: an unknown metric, a cycle (with its path), units that do not fit, too large a whole.
// Where no variant has all its events, the one with most of them is compiled, and its values say
// what is missing.
[[nodiscard]] Result<Program> compile(const Library& library, const std::string& name,
                                      const Available& available = everything_is_available);
[[nodiscard]] Result<Program> compile(const Library& library, const Definition& definition,
                                      const Available& available = everything_is_available);

}  // namespace loft::metric
