// The forms that a report can take, by the name after --format or the ending of the file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace loft::cli {

enum class ReportForm { text, json, csv, folded, svg, html, pprof, speedscope, firefox, perfetto };

struct ReportFormInfo {
  ReportForm form;
  std::string_view name;
  std::string_view ending;
  bool needs_tree;
  bool needs_timeline;
};

std::span<const ReportFormInfo> report_forms();

// --format, else the longest ending that fits `file`, else text.
[[nodiscard]] Result<ReportFormInfo> choose_report_form(const std::string& format,
                                                        const std::string& file);

}  // namespace loft::cli
