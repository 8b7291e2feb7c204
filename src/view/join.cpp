#include "view/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/csv.hpp"
#include "view/estimates.hpp"
#include "view/json_text.hpp"

namespace loft::view {
namespace {

using sample::JoinedColumn;
using sample::JoinedInterval;
using sample::JoinedTask;
using sample::TaskJoin;

// Runs that differ by more than this in their work may not have done the same.
constexpr double kAlike = 0.02;
constexpr std::size_t kWidth = 18;

// 0 is A, 25 is Z, 26 is run 27.
std::string letter_of(std::size_t run) {
  return run < 26 ? std::string(1, static_cast<char>('A' + run)) : std::to_string(run + 1);
}

std::string name_of(const JoinedColumn& column) {
  return fmt::format("{} {}", letter_of(column.run), printable(column.event));
}

std::size_t width_of(const JoinedColumn& column) {
  return std::max(kWidth, name_of(column).size() + 2);
}

std::string row_text(const TaskJoin& joined, const std::string& head,
                     const std::vector<sample::Estimate>& values) {
  std::string out = head;
  for (std::size_t i = 0; i < joined.columns.size(); ++i)
    out += fmt::format("{:>{}}", estimate_text(values[i]), width_of(joined.columns[i]));
  return out + "\n";
}

std::string task_text(const TaskJoin& joined, const JoinedTask& task) {
  std::vector<std::string> tids;
  for (std::size_t run = 0; run < task.tids.size(); ++run)
    tids.push_back(fmt::format("{} {}", letter_of(run), task.tids[run]));
  std::string out = fmt::format("\n{} ({})\n", printable(task.name), join(tids, ", "));
  if (sample::difference_of_work(task) > kAlike)
    out += fmt::format("  its work differs by {:.1f} % between the runs: they may not be alike\n",
                       100 * sample::difference_of_work(task));
  out += fmt::format("{:>18}{:>12}", "of its work", "run in A");
  for (const JoinedColumn& column : joined.columns)
    out += fmt::format("{:>{}}", name_of(column), width_of(column));
  out += "\n";
  double run_s = 0;
  for (const JoinedInterval& interval : task.intervals) {
    const std::string place =
        fmt::format("{:.2f} to {:.2f} %", 100 * interval.from, 100 * interval.to);
    out += row_text(joined, fmt::format("{:>18}{:>12}", place, format_seconds(interval.run_s[0])),
                    interval.values);
    run_s += interval.run_s[0];
  }
  return out +
         row_text(joined, fmt::format("{:>18}{:>12}", "all", format_seconds(run_s)), task.totals);
}

std::string left_over_text(const TaskJoin& joined) {
  std::vector<std::string> parts;
  for (std::size_t run = 0; run < joined.left_over.size(); ++run)
    if (joined.left_over[run] != 0)
      parts.push_back(fmt::format("{} of {}", joined.left_over[run], letter_of(run)));
  if (parts.empty()) return {};
  return "\ntasks without slices in every recording: " + join(parts, ", ") + "\n";
}

const char* axis_of(const TaskJoin& joined) {
  return joined.by_instructions ? "instructions" : "run time";
}

std::string kinds_json(const std::vector<sample::Estimate>& values) {
  std::string out;
  for (const sample::Estimate& value : values)
    out += fmt::format("{}\"{}\"", out.empty() ? "" : ",", to_string(value.origin));
  return out;
}

std::string values_json(const std::vector<sample::Estimate>& values) {
  std::string out;
  for (const sample::Estimate& value : values)
    out += (out.empty() ? "" : ",") + estimate_number(value, "null");
  return out;
}

template <class T>
std::string list_json(const std::vector<T>& numbers) {
  std::string out;
  for (const T& number : numbers) out += fmt::format("{}{}", out.empty() ? "" : ",", number);
  return out;
}

std::string task_json(const JoinedTask& task) {
  std::string out = fmt::format(
      "{{\"comm\":{},\"tids\":[{}],\"work\":[{}],\"totals\":[{}],\"kinds\":[{}],\"intervals\":[",
      json_text(task.name), list_json(task.tids), list_json(task.work), values_json(task.totals),
      kinds_json(task.totals));
  for (std::size_t i = 0; i < task.intervals.size(); ++i) {
    const JoinedInterval& interval = task.intervals[i];
    out += fmt::format(
        "{}{{\"from\":{:.9f},\"to\":{:.9f},\"run_s\":[{}],\"values\":[{}],\"kinds\":[{}]}}",
        i > 0 ? ",\n" : "\n", interval.from, interval.to, list_json(interval.run_s),
        values_json(interval.values), kinds_json(interval.values));
  }
  return out + "]}";
}

}  // namespace

std::string join_text(const TaskJoin& joined) {
  std::string out;
  for (std::size_t run = 0; run < joined.paths.size(); ++run)
    out += fmt::format("{} {}\n", letter_of(run), printable(joined.paths[run]));
  out +=
      joined.by_instructions
          ? "aligned by instructions: the same share of a thread's own in each run\n"
          : "aligned by run time: not every recording has instructions, and a run that is slower "
            "in one part is out of step behind it\n";
  for (const JoinedTask& task : joined.tasks) out += task_text(joined, task);
  if (joined.tasks.empty()) out += "\nno thread has slices in every recording\n";
  if (out.find('~') != std::string::npos)
    out +=
        "~: divided evenly where slices of the runs overlap, or scaled already in its recording\n";
  return out + left_over_text(joined);
}

std::string join_csv(const TaskJoin& joined) {
  std::string out = "comm,tid,from,to";
  for (std::size_t run = 0; run < joined.paths.size(); ++run)
    out += fmt::format(",run_s {}", letter_of(run));
  for (const JoinedColumn& column : joined.columns) out += "," + csv_field(name_of(column));
  for (const JoinedColumn& column : joined.columns)
    out += "," + csv_field(name_of(column) + " kind");
  out += "\n";
  for (const JoinedTask& task : joined.tasks)
    for (const JoinedInterval& interval : task.intervals) {
      out += fmt::format("{},{},{:.9f},{:.9f}", csv_field(task.name), task.tids[0], interval.from,
                         interval.to);
      for (const double run_s : interval.run_s) out += fmt::format(",{:.9f}", run_s);
      for (const auto& value : interval.values) out += "," + estimate_number(value, "");
      for (const auto& value : interval.values) out += fmt::format(",{}", to_string(value.origin));
      out += "\n";
    }
  return out;
}

std::string join_json(const TaskJoin& joined) {
  std::string out = "{\"schema\":\"loft.join/1\",\"files\":[";
  for (std::size_t i = 0; i < joined.paths.size(); ++i)
    out += (i > 0 ? "," : "") + json_text(joined.paths[i]);
  out += fmt::format("],\"aligned_by\":\"{}\",\"left_over\":[{}],\"columns\":[", axis_of(joined),
                     list_json(joined.left_over));
  for (std::size_t i = 0; i < joined.columns.size(); ++i)
    out += fmt::format("{}{{\"event\":{},\"run\":{}}}", i > 0 ? "," : "",
                       json_text(joined.columns[i].event), joined.columns[i].run);
  out += "],\"tasks\":[";
  for (std::size_t i = 0; i < joined.tasks.size(); ++i)
    out += (i > 0 ? ",\n" : "\n") + task_json(joined.tasks[i]);
  return out + "\n]}\n";
}

}  // namespace loft::view
