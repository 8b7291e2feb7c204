#include "cli/report_form.hpp"

#include <array>
#include <vector>

#include "base/text.hpp"

namespace loft::cli {
namespace {

// Longer endings come before those that they end in.
constexpr std::array<ReportFormInfo, 15> kForms = {{
    {ReportForm::speedscope, "speedscope", ".speedscope.json", true, true},
    {ReportForm::firefox, "firefox", ".firefox.json", true, true},
    {ReportForm::firefox, "firefox", ".profile.json", true, true},
    {ReportForm::perfetto, "perfetto", ".perfetto-trace", true, true},
    {ReportForm::perfetto, "perfetto", ".pftrace", true, true},
    {ReportForm::perfetto, "perfetto", ".perfetto", true, true},
    {ReportForm::pprof, "pprof", ".pb.gz", true, false},
    {ReportForm::pprof, "pprof", ".pprof", true, false},
    {ReportForm::folded, "folded", ".folded", true, false},
    {ReportForm::svg, "svg", ".svg", true, false},
    {ReportForm::html, "html", ".html", true, true},
    {ReportForm::json, "json", ".json", false, false},
    {ReportForm::json, "json", ".ndjson", false, false},
    {ReportForm::csv, "csv", ".csv", false, false},
    {ReportForm::text, "text", ".txt", false, false},
}};

}  // namespace

std::span<const ReportFormInfo> report_forms() { return kForms; }

Result<ReportFormInfo> choose_report_form(const std::string& format, const std::string& file) {
  for (const auto& form : kForms)
    if (!format.empty() ? format == form.name : file.ends_with(form.ending)) return form;
  if (format.empty() && (file.empty() || file.find('.', file.rfind('/') + 1) == std::string::npos))
    return kForms.back();
  std::vector<std::string> endings;
  for (const auto& form : kForms) endings.emplace_back(form.ending);
  return failure(ErrorKind::invalid_input, "write '" + file + "'",
                 "its ending names no form of a report", "end it in " + join(endings, ", "));
}

}  // namespace loft::cli
