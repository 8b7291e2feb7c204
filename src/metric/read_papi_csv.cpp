// PAPI's present tables: CPU, PRESET and EVENT lines with a derivation and its native events.
//
//   CPU,skx
//   PRESET,PAPI_BR_NTK,DERIVED_SUB,BR_INST_RETIRED:CONDITIONAL,BR_INST_RETIRED:NEAR_TAKEN
//   EVENT,USER_RATIO,DERIVED_POSTFIX,N0|N1|/|,PAPI_L1_DCM,PAPI_L1_DCA,SDESC,'Miss ratio'
#include <fmt/format.h>

#include "base/text.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

// Fields between commas; quotes hold commas.
std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        fields.back() += c;
      }
    } else if (c == '"' || (c == '\'' && trim(fields.back()).empty())) {
      quote = c;
    } else if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = std::string(trim(field));
  return fields;
}

bool is_note(const std::string& word) {
  return word == "NOTE" || word == "SDESC" || word == "LDESC" || word == "UNITS";
}

class PapiCsvReader {
 public:
  explicit PapiCsvReader(const std::string& name) { file_.name = name; }

  MetricFile read(std::string_view text) {
    for (const std::string_view whole : split(text, '\n')) {
      ++line_;
      const std::string_view line = trim(whole);
      if (line.empty() || line[0] == '#') continue;
      statement(csv_fields(line));
    }
    return std::move(file_);
  }

 private:
  void statement(const std::vector<std::string>& fields) {
    if (fields[0] == "CPU") {
      // Several CPU lines in a row share what follows.
      if (!in_cpu_lines_) variant_.clear();
      if (fields.size() > 1) variant_ += (variant_.empty() ? "" : "/") + fields[1];
      in_cpu_lines_ = true;
      return;
    }
    in_cpu_lines_ = false;
    if (fields[0] == "PRESET" || fields[0] == "EVENT") {
      definition(fields);
    } else {
      file_.complain(
          line_, 1, fmt::format("'{}' is not known; CPU, PRESET or EVENT was expected", fields[0]));
    }
  }

  void definition(const std::vector<std::string>& fields) {
    if (fields.size() < 4 || fields[1].empty()) {
      file_.complain(line_, 1, "'PRESET,NAME,DERIVATION,EVENT,...' was expected");
      return;
    }
    const std::string& derivation = fields[2];
    const bool has_string = derivation == "DERIVED_POSTFIX" || derivation == "DERIVED_INFIX";
    std::vector<std::string> events;
    std::size_t at = has_string ? 4 : 3;
    while (at < fields.size() && !is_note(fields[at])) events.push_back(fields[at++]);
    while (!events.empty() && events.back().empty()) events.pop_back();
    if (events.empty()) {
      file_.complain(line_, 1, fmt::format("{} names no event", fields[1]));
      return;
    }
    auto formula =
        has_string ? from_string(derivation, fields[3], events) : derived(derivation, events);
    if (!formula) {
      file_.complain(line_, 0, fmt::format("{}: {}", fields[1], formula.error().why));
      return;
    }
    Definition definition;
    definition.kind = fields[0] == "PRESET" ? DefinitionKind::alias : DefinitionKind::metric;
    definition.name = fields[1];
    definition.formula = *std::move(formula);
    definition.variant = variant_;
    definition.place = {file_.name, line_, 1};
    for (; at + 1 < fields.size(); at += 2)
      if (fields[at] != "UNITS") definition.description = fields[at + 1];
    file_.define(std::move(definition));
  }

  // N0, N1, ... in the string stand for the events behind it.
  static Result<Formula> from_string(const std::string& derivation, const std::string& text,
                                     const std::vector<std::string>& events) {
    LOFT_TRY(Formula formula,
             derivation == "DERIVED_POSTFIX" ? parse_rpn(text) : parse_infix(text));
    for (std::string& name : formula.names) {
      if (name.size() < 2 || name[0] != 'N') continue;
      const auto index = parse_u64(std::string_view(name).substr(1));
      if (!index) continue;
      if (*index >= events.size())
        return failure(
            ErrorKind::invalid_input, "read a formula",
            fmt::format("{} is asked for and only {} events follow", name, events.size()));
      name = events[*index];
    }
    return formula;
  }

  static Result<Formula> derived(const std::string& derivation,
                                 const std::vector<std::string>& events) {
    Formula formula;
    const auto sum = [&](std::size_t first, Op op) {
      for (std::size_t i = first; i < events.size(); ++i) {
        formula.push_name(events[i], 0);
        if (i > first) formula.push(op, 0);
      }
    };
    if (derivation == "NOT_DERIVED" || derivation == "DERIVED_CMPD") {
      formula.push_name(events[0], 0);
    } else if (derivation == "DERIVED_ADD") {
      sum(0, Op::add);
    } else if (derivation == "DERIVED_SUB") {
      sum(0, Op::subtract);
    } else if ((derivation == "DERIVED_PS" || derivation == "DERIVED_ADD_PS") &&
               events.size() > 1) {
      // Per second, where the first event counts the cycles that passed.
      sum(1, Op::add);
      formula.push_name("frequency_hz", 0);
      formula.push(Op::multiply, 0);
      formula.push_name(events[0], 0);
      formula.push(Op::divide, 0);
    } else {
      return failure(ErrorKind::invalid_input, "read a formula",
                     fmt::format("the derivation '{}' is not known", derivation));
    }
    return formula;
  }

  MetricFile file_;
  unsigned line_ = 0;
  std::string variant_;
  bool in_cpu_lines_ = false;
};

}  // namespace

MetricFile read_papi_csv(const std::string& file_name, std::string_view text) {
  return PapiCsvReader(file_name).read(text);
}

}  // namespace loft::metric
