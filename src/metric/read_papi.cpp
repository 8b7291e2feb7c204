// The file format of PAPI's user-defined events as published in 2011:
//
//   #define BR_lat 5
//   Branch_cat, PAPI_BR_INS|BR_lat*|PAPI_BR_MSP|BR_miss_lat*|+|PAPI_TOT_INS|/
#include <fmt/format.h>

#include "base/text.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

class PapiReader {
 public:
  explicit PapiReader(const std::string& name) { file_.name = name; }

  MetricFile read(std::string_view text) {
    for (const std::string_view whole : split(text, '\n')) {
      ++line_;
      raw_ = whole;
      const std::string_view line = trim(whole);
      if (line.starts_with("#define") && (line.size() == 7 || line[7] == ' ' || line[7] == '\t')) {
        constant(line.substr(7));
      } else if (!line.empty() && line[0] != '#' && !is_rule(line)) {
        event(line);
      }
    }
    return std::move(file_);
  }

 private:
  // "----- Example events file -----": the line above the paper's figure.
  static bool is_rule(std::string_view line) { return line.starts_with("---"); }

  [[nodiscard]] unsigned column_of(std::string_view part) const {
    return static_cast<unsigned>(part.data() - raw_.data()) + 1;
  }

  void constant(std::string_view rest) {
    const std::string_view body = trim(rest);
    const auto blank = body.find_first_of(" \t");
    const std::string_view name = body.substr(0, blank);
    std::string_view value = blank == std::string_view::npos ? "" : trim(body.substr(blank));
    if (const auto comment = value.find("/*"); comment != std::string_view::npos)
      value = trim(value.substr(0, comment));
    if (name.empty() || value.empty()) {
      file_.complain(line_, column_of(line_end()), "'#define NAME value' was expected");
      return;
    }
    const auto number = parse_number(value);
    if (!number) {
      file_.complain(line_, column_of(value),
                     fmt::format("'{}' is not a number; '#define NAME value' was expected", value));
      return;
    }
    file_.define(
        Constant{std::string(name), *number, std::nullopt, to_string(Place{file_.name, line_, 0})},
        line_);
  }

  [[nodiscard]] std::string_view line_end() const { return raw_.substr(raw_.size()); }

  void event(std::string_view line) {
    const auto comma = line.find(',');
    const std::string_view name = trim(line.substr(0, comma));
    if (comma == std::string_view::npos || name.empty() ||
        name.find_first_of(" \t|") != std::string_view::npos) {
      file_.complain(line_, column_of(line),
                     "'Name, OPERATIONS' or '#define NAME value' was expected");
      return;
    }
    const std::string_view operations = line.substr(comma + 1);
    auto formula = parse_rpn(operations);
    if (!formula) {
      file_.complain(line_, column_of(operations) - 1, formula.error());
      return;
    }
    Definition definition;
    definition.name = std::string(name);
    definition.formula = *std::move(formula);
    definition.place = {file_.name, line_, column_of(name)};
    file_.define(std::move(definition));
  }

  MetricFile file_;
  std::string_view raw_;
  unsigned line_ = 0;
};

}  // namespace

MetricFile read_papi(const std::string& file_name, std::string_view text) {
  return PapiReader(file_name).read(text);
}

std::string write_papi(const MetricFile& file) {
  std::string out;
  for (const Constant& constant : file.constants)
    out += fmt::format("#define {} {}\n", constant.name, to_string(constant.value));
  if (!file.constants.empty()) out += '\n';
  for (const Definition& definition : file.definitions) {
    if (!definition.description.empty())
      out += fmt::format("# {}\n", printable(definition.description));
    if (definition.unit && !definition.unit->text.empty())
      out += fmt::format("# unit: {}\n", definition.unit->text);
    out += fmt::format("{}, {}\n", definition.name, to_rpn(definition.formula));
  }
  return out;
}

}  // namespace loft::metric
