#include "model/machine_constants.hpp"

#include <fmt/format.h>

namespace loft::model {
namespace {

// Units of machine files are words: "bytes_per_second".
std::optional<metric::Unit> metric_unit(std::string_view text) {
  if (text == "bytes_per_second") text = "B/s";
  if (text == "flops_per_second") text = "FLOP/s";
  const auto unit = metric::parse_unit(text);
  return unit ? std::optional<metric::Unit>(*unit) : std::nullopt;
}

std::string origin_of(const Constant& constant, const std::string& file) {
  if (constant.origin != "measured") return constant.origin;
  std::string origin = fmt::format("measured, {}, spread {:.1f} %", file, 100 * constant.spread);
  if (constant.verdict == Verdict::noisy) origin += ", noisy";
  return origin;
}

}  // namespace

std::vector<metric::Constant> metric_constants(const Machine& machine, const std::string& file) {
  std::vector<metric::Constant> constants;
  for (const Constant& constant : machine.constants) {
    if (constant.verdict == Verdict::unavailable) continue;
    const auto unit = metric_unit(constant.unit);
    const double factor = unit ? unit->factor : 1;
    constants.push_back({constant.name, metric::Number::real(constant.value * factor), unit,
                         origin_of(constant, file)});
  }
  const auto add_frequency = [&](const char* name, double value) {
    if (value > 0)
      constants.push_back(
          {name, metric::Number::real(value), metric_unit("Hz"), "measured, " + file});
  };
  add_frequency("frequency_hz", machine.frequency_hz);
  add_frequency("tsc_hz", machine.tsc_hz);
  // LIKWID's groups know the clock so.
  if (machine.tsc_hz > 0)
    constants.push_back({"inverseClock", metric::Number::real(1 / machine.tsc_hz), metric_unit("s"),
                         "measured, " + file});
  return constants;
}

}  // namespace loft::model
