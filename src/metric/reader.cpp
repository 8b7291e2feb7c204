#include "metric/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace loft::metric {
namespace {

constexpr std::pair<Format, const char*> kNames[] = {
    {Format::loft, "loft"},         {Format::papi, "papi"},     {Format::papi_xml, "xml"},
    {Format::papi_csv, "papi-csv"}, {Format::likwid, "likwid"}, {Format::perf, "perf"}};

// The first line that says something, comments of all formats skipped.
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    const bool comment =
        line.starts_with("---") || (line.starts_with('#') && !line.starts_with("#define"));
    if (!line.empty() && !comment) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

bool is_binary(std::string_view text) { return text.find('\0') != std::string_view::npos; }

}  // namespace

const char* to_string(Format format) {
  return std::ranges::find(kNames, format, &std::pair<Format, const char*>::first)->second;
}

Result<Format> parse_format(std::string_view name) {
  for (const auto& [format, text] : kNames)
    if (name == text) return format;
  return failure(ErrorKind::invalid_input, fmt::format("use the format '{}'", name),
                 "it is not known", "one of loft, papi, xml, papi-csv, likwid, perf");
}

Format detect_format(std::string_view file_name, std::string_view text) {
  const std::string_view line = first_line(text);
  if (file_name.ends_with(".json") || line.starts_with('[') || line.starts_with('{'))
    return Format::perf;
  if (file_name.ends_with(".xml") || line.starts_with('<')) return Format::papi_xml;
  if (line.starts_with("SHORT") && text.find("EVENTSET") != std::string_view::npos)
    return Format::likwid;
  for (const std::string_view word : {"CPU,", "PRESET,", "EVENT,"})
    if (line.starts_with(word)) return Format::papi_csv;
  if (line.starts_with("#define")) return Format::papi;
  if (file_name.ends_with(".metrics")) return Format::loft;
  const auto comma = line.find(',');
  if (comma != std::string_view::npos && line.find_first_of(" =[\"") > comma) return Format::papi;
  return Format::loft;
}

MetricFile read_metrics(const std::string& file_name, std::string_view text) {
  return read_metrics(file_name, text, detect_format(file_name, text));
}

MetricFile read_metrics(const std::string& file_name, std::string_view text, Format format) {
  if (is_binary(text)) {
    MetricFile file;
    file.name = file_name;
    file.complain(0, 0, "this is a binary file, not a file of metrics");
    return file;
  }
  switch (format) {
    case Format::loft:
      return read_loft(file_name, text);
    case Format::papi:
      return read_papi(file_name, text);
    case Format::papi_xml:
      return read_papi_xml(file_name, text);
    case Format::papi_csv:
      return read_papi_csv(file_name, text);
    case Format::likwid:
      return read_likwid(file_name, text);
    case Format::perf:
      return read_perf(file_name, text);
  }
  return {};
}

}  // namespace loft::metric
