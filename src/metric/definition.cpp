#include "metric/definition.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace loft::metric {

std::string to_string(const Place& place) {
  std::string text = printable(place.file);
  if (place.line > 0) text += fmt::format(":{}", place.line);
  if (place.line > 0 && place.column > 0) text += fmt::format(":{}", place.column);
  return text;
}

const char* to_string(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

std::string to_string(const Diagnostic& diagnostic) {
  return fmt::format("{}: {}: {}", to_string(diagnostic.place), to_string(diagnostic.severity),
                     printable(diagnostic.text));
}

void MetricFile::complain(unsigned line, unsigned column, std::string text, Severity severity) {
  diagnostics.push_back({severity, {name, line, column}, std::move(text)});
}

void MetricFile::complain(unsigned line, std::size_t offset, const Error& error) {
  std::string_view why = error.why;
  unsigned column = 0;
  if (why.starts_with("column ")) {
    const auto colon = why.find(':');
    if (const auto number = parse_u64(why.substr(7, colon - 7)))
      column = static_cast<unsigned>(*number + offset);
    why.remove_prefix(std::min(colon + 2, why.size()));
  }
  std::string text(why);
  if (!error.hint.empty()) text += "; " + error.hint;
  complain(line, column, std::move(text));
}

void MetricFile::define(Definition definition) {
  const auto [at, is_new] =
      taken_.emplace(definition.name + '\n' + definition.variant, definition.place.line);
  if (!is_new) {
    complain(definition.place.line, definition.place.column,
             fmt::format("'{}' is defined twice, first on line {}", definition.name, at->second));
    return;
  }
  definitions.push_back(std::move(definition));
}

void MetricFile::define(Constant constant, unsigned line) {
  const auto [at, is_new] = taken_.emplace(constant.name + '\n', line);
  if (!is_new) {
    complain(line, 0,
             fmt::format("'{}' is defined twice, first on line {}", constant.name, at->second));
    return;
  }
  constants.push_back(std::move(constant));
}

bool looks_like_machine_constant(std::string_view name) {
  return name.ends_with("_lat") || name.ends_with("_bw") || name.ends_with("_hz");
}

}  // namespace loft::metric
