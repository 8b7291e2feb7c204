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
                            const std::vector<sample::ReportEvent>& events) {
  std::string text = "pid,name,mmaps,fork,exit,samples,period,event\n";
  std::multimap<std::uint32_t, const sample::ProcessWeight*> weights;
  for (const sample::ProcessWeight& entry : result.processes) weights.emplace(entry.pid, &entry);
  const auto line = [&](const sample::Process& process, const sample::ProcessWeight* part) {
    const auto time = [](const std::optional<std::uint64_t>& moment) {
      return moment ? std::to_string(*moment) : std::string();
    };
    const auto* event =
        part != nullptr && part->event < events.size() ? &events[part->event] : nullptr;
    const bool has_period = part == nullptr || (event != nullptr && event->period_is_known);
    text +=
        fmt::format("{},{},{},{},{},{},{},{}\n", static_cast<std::int32_t>(process.pid),
                    csv_field(history.names()[process.comm]), process.maps, time(process.fork_time),
                    time(process.exit_time), part != nullptr ? part->weight.samples : 0,
                    has_period ? std::to_string(part != nullptr ? part->weight.period : 0) : "",
                    event != nullptr ? csv_field(event->name) : "");
  };
  const auto lines = [&](const sample::Process& process) {
    const auto [first, end] = weights.equal_range(process.pid);
    if (first == end) line(process, nullptr);
    for (auto entry = first; entry != end; ++entry) line(process, entry->second);
    weights.erase(first, end);
  };
  // Samples are known by number; where a number was used again the last process has them.
  std::map<std::uint32_t, std::size_t> last;
  const auto& processes = history.processes();
  for (std::size_t i = 0; i < processes.size(); ++i) last[processes[i].pid] = i;
  for (std::size_t i = 0; i < processes.size(); ++i)
    last[processes[i].pid] == i ? lines(processes[i]) : line(processes[i], nullptr);
  while (!weights.empty()) lines({.pid = weights.begin()->first});
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
