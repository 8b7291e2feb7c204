#include "machine/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/file.hpp"
#include "base/places.hpp"
#include "base/text.hpp"

namespace loft::machine {
namespace {

constexpr std::array<std::string_view, 5> kUnits{"cycles", "ns", "bytes_per_second",
                                                 "flops_per_second", "Hz"};

bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

void put(model::Machine& machine, model::Constant constant) {
  const auto same = std::ranges::find(machine.constants, constant.name, &model::Constant::name);
  if (same == machine.constants.end())
    machine.constants.push_back(std::move(constant));
  else
    *same = std::move(constant);
}

// FP_lat is the larger of addition and multiplication, also when a person says what those are.
void follow(const std::vector<model::Constant>& overrides, model::Machine& machine) {
  const auto overridden = [&](std::string_view name) {
    return std::ranges::find(overrides, name, &model::Constant::name) != overrides.end();
  };
  if (overridden("FP_lat") || (!overridden("FP_add_lat") && !overridden("FP_mul_lat"))) return;
  const model::Constant* add = model::find_constant(machine, "FP_add_lat");
  const model::Constant* mul = model::find_constant(machine, "FP_mul_lat");
  if (add == nullptr || mul == nullptr) return;
  model::Constant larger = add->value >= mul->value ? *add : *mul;
  larger.name = "FP_lat";
  put(machine, std::move(larger));
}

}  // namespace

std::string overrides_path() { return join_path(config_directory(), "constants"); }

Result<std::vector<model::Constant>> parse_overrides(std::string_view text,
                                                     const std::string& name) {
  std::vector<model::Constant> overrides;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto wrong = [&](const std::string& why) {
      return failure(ErrorKind::malformed,
                     fmt::format("read the constants in '{}', line {}", printable(name), number),
                     why, "a line reads NAME = VALUE [unit], as in L1_lat = 4 cycles");
    };
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return wrong("there is no '='");
    model::Constant constant;
    constant.name = std::string(trim(line.substr(0, equals)));
    if (!is_name(constant.name)) return wrong("'" + printable(constant.name) + "' is not a name");
    const std::string_view rest = trim(line.substr(equals + 1));
    const auto blank = rest.find_first_of(" \t");
    const auto value = parse_double(rest.substr(0, blank));
    if (!value || !(*value >= 0) || *value > 1e30)
      return wrong("the value is not a positive number");
    constant.unit =
        blank == std::string_view::npos ? "cycles" : std::string(trim(rest.substr(blank)));
    if (std::find(kUnits.begin(), kUnits.end(), constant.unit) == kUnits.end())
      return wrong("the unit '" + printable(constant.unit) + "' is not known (" +
                   fmt::format("{}", fmt::join(kUnits, ", ")) + ")");
    constant.value = constant.median = *value;
    constant.verdict = model::Verdict::stable;
    constant.origin = name;
    overrides.push_back(std::move(constant));
  }
  return overrides;
}

Result<std::vector<model::Constant>> read_overrides(const std::string& path) {
  if (!file_exists(path)) return std::vector<model::Constant>{};
  LOFT_TRY(const auto text, read_file(path, 1u << 20));
  return parse_overrides(text, path);
}

void apply(const std::vector<model::Constant>& overrides, model::Machine& machine) {
  for (model::Constant constant : overrides) {
    if (constant.unit == "cycles" && machine.frequency_hz > 0) {
      constant.cycles = constant.value;
      constant.ns = constant.value / machine.frequency_hz * 1e9;
    } else if (constant.unit == "ns" && machine.frequency_hz > 0) {
      // Formulas count in cycles, whatever unit a person wrote.
      constant.ns = constant.value;
      constant.value = constant.cycles = constant.median =
          constant.ns * machine.frequency_hz * 1e-9;
      constant.unit = "cycles";
    }
    put(machine, std::move(constant));
  }
  follow(overrides, machine);
}

}  // namespace loft::machine
