#include "model/machine_compare.hpp"

#include <algorithm>

#include "model/roofline.hpp"

namespace loft::model {
namespace {

std::string threads_of(const Roof& roof) {
  return std::to_string(roof.threads) + (roof.threads == 1 ? " thread" : " threads");
}

std::optional<double> value_if(bool known, double value) {
  return known ? std::optional(value) : std::nullopt;
}

// Puts a value into the row of its name, which it makes when there is none.
void put(std::vector<Comparison>& rows, Comparison row, bool is_second) {
  const auto same = std::find_if(rows.begin(), rows.end(), [&](const Comparison& each) {
    return each.group == row.group && each.name == row.name && each.unit == row.unit;
  });
  if (same == rows.end()) {
    if (is_second) std::swap(row.first, row.second);
    rows.push_back(std::move(row));
    return;
  }
  // Two crews of the same size have the same name: the first of each machine counts.
  std::optional<double>& place = is_second ? same->second : same->first;
  if (!place) place = row.first;
  same->is_noisy = same->is_noisy || row.is_noisy;
}

void put_all(std::vector<Comparison>& rows, const Machine& machine, bool is_second) {
  put(rows,
      {"clock",
       "frequency",
       "Hz",
       value_if(machine.frequency_hz > 0, machine.frequency_hz),
       {},
       false},
      is_second);
  for (const Roof& roof : machine.roofs)
    put(rows,
        {"roof",
         describe(roof),
         unit_of(roof.kind),
         value_if(roof.verdict != Verdict::unavailable, roof.best),
         {},
         roof.verdict == Verdict::noisy},
        is_second);
  for (const Constant& constant : machine.constants)
    put(rows,
        {"constant",
         constant.name,
         constant.unit,
         value_if(constant.verdict != Verdict::unavailable, constant.value),
         {},
         constant.verdict == Verdict::noisy},
        is_second);
}

}  // namespace

std::optional<double> Comparison::ratio() const {
  if (!first || !second || *first == 0) return std::nullopt;
  return *second / *first;
}

std::string describe(const Roof& roof) {
  if (roof.kind == RoofKind::bandwidth)
    return roof.level + " " + roof.op + ", " + roof.isa + ", " + threads_of(roof);
  if (roof.kind != RoofKind::flops) return peak_name(roof) + ", " + threads_of(roof);
  return peak_name(roof) + (roof.precision == "sp" ? ", single, " : ", double, ") +
         threads_of(roof);
}

std::vector<Comparison> compare(const Machine& first, const Machine& second) {
  std::vector<Comparison> rows;
  put_all(rows, first, false);
  put_all(rows, second, true);
  return rows;
}

}  // namespace loft::model
