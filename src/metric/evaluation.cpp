#include "metric/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace loft::metric {

std::optional<double> Evaluated::in_unit() const {
  if (!value.number) return std::nullopt;
  return value.number->as_double() / unit.factor;
}

std::optional<Interval> Evaluated::ci95_in_unit() const {
  if (!value.number || !value.ci95) return std::nullopt;
  return Interval{value.ci95->low / unit.factor, value.ci95->high / unit.factor};
}

Evaluated evaluated(const Program& program, Value value) {
  return {program.name(), program.description(), program.variant(),
          program.unit(), std::move(value),      program.constants()};
}

Result<std::vector<Program>> compile_all(const Library& library, std::span<const std::string> names,
                                         const Available& available) {
  std::vector<Program> programs;
  for (const std::string& name : names) {
    LOFT_TRY(auto program, compile(library, name, available));
    programs.push_back(std::move(program));
  }
  return programs;
}

Result<std::vector<Program>> compile_possible(const Library& library, const Available& available) {
  std::vector<Program> programs;
  for (const std::string& name : library.names()) {
    auto program = compile(library, name, available);
    if (program && std::ranges::all_of(program->inputs(), available))
      programs.push_back(*std::move(program));
  }
  if (programs.empty())
    return failure(ErrorKind::invalid_input, "evaluate metrics",
                   "no metric that is known can be computed from these counts",
                   "name one to see what it lacks");
  return programs;
}

std::vector<std::string> needs(std::span<const Program> programs) {
  std::vector<std::string> events;
  for (const Program& program : programs)
    for (const std::string& name : program.inputs())
      if (name != "time" && std::ranges::find(events, name) == events.end()) events.push_back(name);
  return events;
}

std::vector<Evaluated> evaluate_all(std::span<const Program> programs, const CountSet& counts,
                                    std::span<const GroupEstimate> groups) {
  std::vector<Evaluated> all;
  for (const Program& program : programs) {
    Value value = program.evaluate(counts);
    if (!groups.empty()) value = with_interval(program, counts, std::move(value), groups);
    all.push_back(evaluated(program, std::move(value)));
  }
  return all;
}

std::vector<Constant> constants_of(std::span<const Evaluated> metrics) {
  std::vector<Constant> constants;
  for (const Evaluated& metric : metrics)
    for (const Constant& constant : metric.constants)
      if (std::ranges::find(constants, constant.name, &Constant::name) == constants.end())
        constants.push_back(constant);
  return constants;
}

std::string value_text(const Evaluated& metric) { return value_text(metric.value, metric.unit); }

std::string value_text(const Value& value, const Unit& unit) {
  if (!value.number) return "n/a";
  const double number = value.number->as_double();
  const bool estimated = value.kind != sample::Origin::counted;
  std::string text = (estimated ? "~" : "") + format_value(number, unit);
  if (value.ci95 && number != 0)
    text += fmt::format(" ± {:.2g} %",
                        100 * (value.ci95->high - value.ci95->low) / 2 / std::fabs(number));
  return text;
}

}  // namespace loft::metric
