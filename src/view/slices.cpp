#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/csv.hpp"
#include "view/estimates.hpp"
#include "view/json_text.hpp"
#include "view/tasks.hpp"

namespace loft::view {
namespace {

using sample::TaskSlice;
using sample::TaskTable;

}  // namespace

std::string slices_text(const TaskTable& table) {
  if (table.slices.empty())
    return "no slices were recorded: record with 'loft record' and --types that has pmu\n";
  const bool is_estimate = estimates_run_time(table);
  const std::string mark = is_estimate ? "~" : "";
  std::string out = fmt::format("{:>12}  {:<24}{:>5}{:>12}", "until", "task", "CPU", "run");
  for (const std::string& name : table.counters)
    out += fmt::format("{:>{}}", printable(name), std::max<std::size_t>(17, name.size() + 2));
  out += '\n';
  for (const TaskSlice& slice : table.slices) {
    const auto& row = table.tasks[slice.task];
    const auto since = slice.end - std::min(slice.end, table.first_time);
    out += fmt::format("{:>10.6f} s  {:<24}{:>5}{:>12}", static_cast<double>(since) * 1e-9,
                       fmt::format("{} {}", printable(row.comm), row.tid), slice.cpu,
                       mark + format_seconds(static_cast<double>(slice.run_ns) * 1e-9));
    for (std::size_t k = 0; k < table.counters.size(); ++k)
      out += fmt::format("{:>{}}", estimate_text(sample::estimate(table, slice, k)),
                         std::max<std::size_t>(17, table.counters[k].size() + 2));
    out += '\n';
  }
  if (is_estimate)
    out += kTicksNote;
  else if (out.find('~') != std::string::npos)
    out +=
        "~: what a slice's set of events did not see is taken to be like the rest of its task; "
        "-: the set had no turn in this slice\n";
  return out;
}

std::string slices_csv(const TaskTable& table) {
  std::string out = "end_ns,pid,tid,comm,cpu,run_ns,wait_ns" + estimates_csv_head(table) + "\n";
  for (const TaskSlice& slice : table.slices) {
    const auto& row = table.tasks[slice.task];
    out +=
        fmt::format("{},{},{},{},{},{},{}", slice.end, row.pid, row.tid, csv_field(row.comm),
                    slice.cpu, slice.run_ns, slice.wait_ns ? std::to_string(*slice.wait_ns) : "");
    out += estimates_csv(table, slice) + "\n";
  }
  return out;
}

std::string slices_json(const TaskTable& table) {
  std::string out = "{\"schema\":\"loft.slices/1\",\"file\":" + json_text(table.path) +
                    run_kind_json(table) + ",\"slices\":[";
  for (std::size_t i = 0; i < table.slices.size(); ++i) {
    const TaskSlice& slice = table.slices[i];
    const auto& row = table.tasks[slice.task];
    out += fmt::format(
        "{}{{\"end_ns\":{},\"pid\":{},\"tid\":{},\"comm\":{},\"cpu\":{},\"run_ns\":{},"
        "\"wait_ns\":{},{}}}",
        i > 0 ? ",\n" : "\n", slice.end, row.pid, row.tid, json_text(row.comm), slice.cpu,
        slice.run_ns, slice.wait_ns ? std::to_string(*slice.wait_ns) : "null",
        estimates_json(table, slice));
  }
  out += "\n]}\n";
  return out;
}

}  // namespace loft::view
