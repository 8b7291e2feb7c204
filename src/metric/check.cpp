#include "metric/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace loft::metric {
namespace {

// Values in expect lines are written by people: six digits are meant.
constexpr double kTolerance = 1e-6;

class Checker {
 public:
  Checker(const Library& library, const EventTest& is_event)
      : library_(library), is_event_(is_event) {}

  void definition(const Definition& definition) {
    ++result_.definitions;
    const auto program = compile(library_, definition);
    if (!program) {
      complain(
          definition, Severity::error,
          program.error().why + (program.error().hint.empty() ? "" : "; " + program.error().hint));
      return;
    }
    names(definition, *program);
    divisors(definition, *program);
    for (const Expectation& expectation : definition.expectations) expect(definition, expectation);
  }

  CheckResult take() { return std::move(result_); }

 private:
  void complain(const Definition& definition, Severity severity, std::string text) {
    result_.diagnostics.push_back(
        {severity, definition.place, fmt::format("{}: {}", definition.name, text)});
  }

  // Units are not asked for here: the events of `program` are those of its definitions.
  void names(const Definition& definition, const Program& program) {
    if (!is_event_) return;
    for (const std::string& name : program.inputs()) {
      if (name == "time" ||
          std::ranges::find(definition.formula.names, name) == definition.formula.names.end())
        continue;
      const auto [known, is_new] = reasons_.try_emplace(name);
      if (is_new) known->second = is_event_(name);
      if (!known->second.empty())
        complain(
            definition, Severity::warning,
            fmt::format("'{}' is no constant, no metric and no event: {}", name, known->second));
    }
  }

  void divisors(const Definition& definition, const Program& program) {
    for (const Step& step : definition.formula.steps) {
      if (step.op != Op::divide && step.op != Op::remainder) continue;
      const auto at = static_cast<std::size_t>(&step - definition.formula.steps.data());
      const Step& before = definition.formula.steps[at - 1];
      if (before.op == Op::number && definition.formula.numbers[before.index].value.is_zero())
        complain(definition, Severity::error, "it always divides by 0");
    }
    for (const std::string& divisor : program.divisors())
      complain(definition, Severity::note, fmt::format("not available when {} is 0", divisor));
  }

  void expect(const Definition& definition, const Expectation& expectation) {
    CountSet counts;
    std::optional<Library> changed;  // only where a constant must change: libraries are large
    for (const auto& [name, value] : expectation.counts) {
      counts.add(name, Quantity::exact(value));
      // A constant in an expect line is meant to have that value there.
      if (const Constant* constant = library_.find_constant(name)) {
        if (!changed) changed = library_;
        changed->add(Constant{name, value, constant->unit, "expect line"}, Tier::command);
      }
    }
    const auto program =
        compile(changed ? *changed : library_, definition,
                [&](std::string_view name) { return counts.find(name) != nullptr; });
    if (!program) return;  // compiled before; a variant that does not is no fault of this one
    const Value value = program->evaluate(counts);
    const std::string problem = difference(expectation, *program, value);
    if (problem.empty()) {
      ++result_.expectations;
    } else {
      result_.diagnostics.push_back(
          {Severity::error, expectation.place, fmt::format("{}: {}", definition.name, problem)});
    }
  }

  // What an expectation and a value disagree about; empty when they agree.
  static std::string difference(const Expectation& expectation, const Program& program,
                                const Value& value) {
    if (!value.number) {
      if (!expectation.value) return {};
      return fmt::format("{} was expected, and it is not available: {}", *expectation.value,
                         value.why);
    }
    const double got = program.in_unit(value.number->as_double());
    if (!expectation.value) return fmt::format("n/a was expected, and it is {}", got);
    const double bound = kTolerance * std::max(std::fabs(*expectation.value), std::fabs(got));
    if (std::fabs(got - *expectation.value) <= bound) return {};
    return fmt::format("{} was expected, and it is {}", *expectation.value, got);
  }

  const Library& library_;
  const EventTest& is_event_;
  std::map<std::string, std::string> reasons_;  // of names that are no events
  CheckResult result_;
};

}  // namespace

CheckResult check_definitions(const Library& library, const MetricFile& file,
                              const EventTest& is_event) {
  Checker checker(library, is_event);
  for (const Definition& definition : file.definitions) checker.definition(definition);
  return checker.take();
}

}  // namespace loft::metric
