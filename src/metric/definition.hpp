// What a metric file defines: metrics, constants, units of events. One shape for all formats.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metric/formula.hpp"

namespace loft::metric {

// Where something was written; line and column count from 1, 0 means the file as a whole.
struct Place {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

std::string to_string(const Place& place);  // "lcpi.papi:3:14"

enum class Severity { error, warning, note };

const char* to_string(Severity severity);

struct Diagnostic {
  Severity severity = Severity::error;
  Place place;
  std::string text;  // what is wrong and what was expected
};

std::string to_string(const Diagnostic& diagnostic);  // "lcpi.papi:3:14: error: ..."

// "these counts give that value": a test that travels with the metric.
struct Expectation {
  std::vector<std::pair<std::string, Number>> counts;
  std::optional<double> value;  // in the metric's unit; nothing means "not available"
  Place place;
};

enum class DefinitionKind {
  metric,
  model,  // a fitted estimate: what it gives is modelled, never counted
  alias,  // stands in for an event of this name where the event itself does not exist
};

struct Definition {
  DefinitionKind kind = DefinitionKind::metric;
  std::string name;
  Formula formula;
  std::optional<Unit> unit;
  bool checks_units = false;    // formulas of other tools carry no units to check
  std::optional<double> error;  // of a model: half of its 95 % interval, in base units
  std::string description;
  std::string group;
  std::string variant;  // "intel", "amd", "virtual": one of several ways to get it
  std::vector<Expectation> expectations;
  Place place;
};

// Whether a name is written like those that `loft machine` gives: L1_lat, DRAM_bw, tsc_hz.
bool looks_like_machine_constant(std::string_view name);

struct Constant {
  std::string name;
  Number value;  // in base units
  std::optional<Unit> unit;
  std::string origin;  // "lcpi.papi:2", "machine file, spread 13 %", "command line"
};

struct EventUnit {
  std::string pattern;  // a name, or a beginning that ends with *
  Unit unit;
};

// Everything one file gave. Diagnostics never hide the definitions that were good.
struct MetricFile {
  std::string name;
  std::vector<Definition> definitions;
  std::vector<Constant> constants;
  std::vector<EventUnit> event_units;
  std::vector<Diagnostic> diagnostics;

  void complain(unsigned line, unsigned column, std::string text,
                Severity severity = Severity::error);
  // An error of parse_infix or parse_rpn, whose column counts from `offset`.
  void complain(unsigned line, std::size_t offset, const Error& error);

  // Adds it, unless the name is taken in this file; then complains and names both places.
  void define(Definition definition);
  void define(Constant constant, unsigned line);

 private:
  std::map<std::string, unsigned, std::less<>> taken_;  // name and variant, to line
};

}  // namespace loft::metric
