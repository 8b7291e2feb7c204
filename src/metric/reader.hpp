// Reads metric files of every format into one shape.
//
//   const MetricFile file = read_metrics("lcpi.papi", text);      // the format is told by looking
//   for (const Diagnostic& d : file.diagnostics) ...
//
// A reader never fails as a whole: what is wrong becomes a diagnostic with its line and column,
// what is right is kept.
#pragma once

#include <string>
#include <string_view>

#include "metric/definition.hpp"

namespace loft::metric {

enum class Format {
  loft,      // ours: infix, units, descriptions, expect lines
  papi,      // #define NAME value / Name, A|B|+      (the paper of 2011)
  papi_xml,  // the same as XML
  papi_csv,  // CPU, / PRESET, / EVENT, lines of papi_events.csv
  likwid,    // SHORT / EVENTSET / METRICS / LONG
  perf,      // JSON array with MetricName and MetricExpr
};

// "loft", "papi", "xml", "papi-csv", "likwid", "perf".
const char* to_string(Format format);
[[nodiscard]] Result<Format> parse_format(std::string_view name);

// By the content first, the name's ending second.
Format detect_format(std::string_view file_name, std::string_view text);

MetricFile read_metrics(const std::string& file_name, std::string_view text);
MetricFile read_metrics(const std::string& file_name, std::string_view text, Format format);

MetricFile read_loft(const std::string& file_name, std::string_view text);
MetricFile read_papi(const std::string& file_name, std::string_view text);
MetricFile read_papi_xml(const std::string& file_name, std::string_view text);
MetricFile read_papi_csv(const std::string& file_name, std::string_view text);
MetricFile read_likwid(const std::string& file_name, std::string_view text);
MetricFile read_perf(const std::string& file_name, std::string_view text);

// The other way: definitions as text. What the format has no place for (units and descriptions in
// the paper's) becomes a comment or an attribute; LIKWID, perf and CSV are read only.
std::string write_loft(const MetricFile& file);
std::string write_papi(const MetricFile& file);
std::string write_papi_xml(const MetricFile& file);

}  // namespace loft::metric
