#include <fmt/format.h>

#include "view/csv.hpp"
#include "view/report.hpp"

namespace loft::view {
namespace {

template <class T>
std::string number_or_empty(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

}  // namespace

std::string report_csv(const sample::Report& report) {
  std::string text =
      "event,function,binary,file,line,comm,pid,tid,cpu,samples,period,share,inclusive_samples,"
      "inclusive_period,inclusive_share\n";
  for (const auto& row : report.rows) {
    const auto& event = report.events[row.event];
    const auto& keys = row.keys;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.6f},", csv_field(event.name),
                        csv_field(keys.function), csv_field(keys.binary), csv_field(keys.file),
                        keys.line == 0 ? "" : std::to_string(keys.line), csv_field(keys.comm),
                        number_or_empty(keys.pid), number_or_empty(keys.tid),
                        number_or_empty(keys.cpu), row.self.samples,
                        event.period_is_known ? std::to_string(row.self.period) : "", row.share);
    if (row.inclusive) {
      text += fmt::format("{},{},{:.6f}", row.inclusive->samples,
                          event.period_is_known ? std::to_string(row.inclusive->period) : "",
                          row.inclusive_share);
    } else {
      text += ",,";
    }
    text += "\n";
  }
  return text;
}

}  // namespace loft::view
