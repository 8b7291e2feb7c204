#include "view/recording_tables.hpp"

#include <fmt/format.h>

#include <map>

#include "view/csv.hpp"

namespace loft::view {

std::string stat_table(const sample::RecordingSummary& summary) {
  std::string text = "type,records\n";
  for (const auto& [type, count] : summary.records)
    text += fmt::format("{},{}\n", csv_field(type), count);
  return text;
}

std::string processes_table(const sample::TaskHistory& history, const sample::ProfileResult& result,
                            bool period_is_known) {
  std::string text = "pid,name,mmaps,fork,exit,samples,period\n";
  std::map<std::uint32_t, sample::Weight> weights(result.processes.begin(), result.processes.end());
  const auto line = [&](const sample::Process& process, const sample::Weight& weight) {
    const auto time = [](const std::optional<std::uint64_t>& moment) {
      return moment ? std::to_string(*moment) : std::string();
    };
    text += fmt::format("{},{},{},{},{},{},{}\n", static_cast<std::int32_t>(process.pid),
                        csv_field(history.names()[process.comm]), process.maps,
                        time(process.fork_time), time(process.exit_time), weight.samples,
                        period_is_known ? std::to_string(weight.period) : "");
  };
  // Samples are known by number; where a number was used again the last process has them.
  std::map<std::uint32_t, std::size_t> last;
  const auto& processes = history.processes();
  for (std::size_t i = 0; i < processes.size(); ++i) last[processes[i].pid] = i;
  for (std::size_t i = 0; i < processes.size(); ++i)
    line(processes[i], last[processes[i].pid] == i ? weights[processes[i].pid] : sample::Weight{});
  for (const auto& [pid, weight] : result.processes)
    if (!last.contains(pid)) line({.pid = pid}, weight);
  return text;
}

std::string results_table(const sample::Report& report) {
  std::string text = "period,samples,function,file,binary,event\n";
  for (const auto& row : report.rows) {
    const auto& event = report.events[row.event];
    text += fmt::format("{},{},{},{},{},{}\n",
                        event.period_is_known ? std::to_string(row.self.period) : "",
                        row.self.samples, csv_field(row.keys.function), csv_field(row.keys.file),
                        csv_field(row.keys.binary), csv_field(event.name));
  }
  return text;
}

}  // namespace loft::view
