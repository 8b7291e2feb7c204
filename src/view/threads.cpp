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

using sample::TaskRow;
using sample::TaskTable;

constexpr std::size_t kLeastName = 12;
constexpr std::size_t kMostName = 34;  // a longer one moves its row to the right

std::string seconds(const std::optional<std::uint64_t>& ns) {
  return ns ? format_seconds(static_cast<double>(*ns) * 1e-9) : "-";
}

std::string number(const std::optional<std::uint64_t>& value) {
  return value ? with_separators(*value) : "-";
}

std::size_t width_of(const std::string& name) { return std::max<std::size_t>(10, name.size() + 2); }

// Of a counter's column: the sum of all is its longest number, but for its error.
std::size_t width_of(const TaskTable& table, std::size_t counter) {
  constexpr std::string_view kError = " ±9.9 %";
  const bool has_errors = std::ranges::any_of(table.tasks, [&](const TaskRow& row) {
    return sample::estimate(table, row, counter).origin == sample::Origin::scaled;
  });
  return std::max(width_of(table.counters[counter]),
                  estimate_text(sample::estimate_of_all(table, counter)).size() + 2 +
                      (has_errors ? kError.size() : 0));
}

std::string run_time(const TaskTable& table, const TaskRow& row) {
  const bool is_estimate = estimates_run_time(table) && row.run_ns;
  return (is_estimate ? "~" : "") + seconds(row.run_ns);
}

class Tree {
 public:
  explicit Tree(const TaskTable& table) : table_(table), children_(table.tasks.size()) {
    for (std::size_t i = 0; i < table.tasks.size(); ++i)
      if (table.tasks[i].parent) children_[*table.tasks[i].parent].push_back(i);
  }

  std::string text() {
    constexpr std::size_t kManyIdle = 16;  // of a whole machine most never run
    head();
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < table_.tasks.size(); ++i)
      if (!table_.tasks[i].parent) roots.push_back(i);
    const auto is_idle = [this](std::size_t i) { return has_never_run(i); };
    const auto idle = std::ranges::count_if(roots, is_idle);
    const bool leaves_out = static_cast<std::size_t>(idle) > kManyIdle;
    for (const std::size_t i : roots)
      if (!leaves_out || !is_idle(i)) branch(i, "", "");
    for (const Line& line : lines_)
      width_ = std::min(kMostName, std::max(width_, columns_of(line.name) + 1));
    std::string out;
    for (const Line& line : lines_) out += padded(line.name) + line.rest + '\n';
    if (leaves_out) out += fmt::format("({} more that never ran)\n", idle);
    return out;
  }

  // As wide as the names of the tree are, once text() was made.
  [[nodiscard]] std::string padded(const std::string& name) const {
    const std::size_t columns = columns_of(name);
    return name + std::string(columns < width_ ? width_ - columns : 1, ' ');
  }

 private:
  struct Line {
    std::string name, rest;
  };

  // Marks of the tree take more bytes than columns.
  static std::size_t columns_of(const std::string& name) {
    return static_cast<std::size_t>(std::count_if(name.begin(), name.end(), [](char c) {
      return (static_cast<unsigned char>(c) >> 6) != 2;
    }));
  }

  void head() {
    std::string rest =
        fmt::format("{:>11}{:>11}{:>9}{:>7}", "run",
                    table_.waiting_is_whole ? "waiting" : "pushed off", "switches", "moves");
    for (std::size_t k = 0; k < table_.counters.size(); ++k) {
      widths_.push_back(width_of(table_, k));
      rest += fmt::format("{:>{}}", printable(table_.counters[k]), widths_[k]);
    }
    for (const sample::MeterSum& meter : table_.meters)
      rest += fmt::format("{:>{}}", "J " + printable(meter.name), width_of("J " + meter.name));
    lines_.push_back({"task", std::move(rest)});
  }

  [[nodiscard]] bool has_never_run(std::size_t i) const {
    const TaskRow& row = table_.tasks[i];
    return children_[i].empty() && row.slices == 0 && !row.run_ns && !row.switches;
  }

  // Not by calls: a recording may claim a chain of any length.
  void branch(std::size_t first, const std::string& mark, const std::string& indent) {
    struct Step {
      std::size_t task;
      std::string mark, indent;
    };
    std::vector<Step> steps{{first, mark, indent}};
    while (!steps.empty()) {
      const Step step = std::move(steps.back());
      steps.pop_back();
      line(step.task, step.mark);
      const auto& below = children_[step.task];
      for (std::size_t k = below.size(); k-- > 0;) {
        const bool is_last = k + 1 == below.size();
        const bool is_deep = step.indent.size() > 24;
        steps.push_back({below[k],
                         step.indent + (is_deep   ? ""
                                        : is_last ? "└ "
                                                  : "├ "),
                         step.indent + (is_deep   ? ""
                                        : is_last ? "  "
                                                  : "│ ")});
      }
    }
  }

  void line(std::size_t i, const std::string& mark) {
    const TaskRow& row = table_.tasks[i];
    const std::string name =
        fmt::format("{}{} {}", mark, printable(row.comm.empty() ? "?" : row.comm), row.tid);
    std::string rest =
        fmt::format("{:>11}{:>11}{:>9}{:>7}", run_time(table_, row), seconds(row.wait_ns),
                    number(row.switches), number(row.migrations));
    for (std::size_t k = 0; k < table_.counters.size(); ++k)
      rest +=
          fmt::format("{:>{}}", estimate_with_error(sample::estimate(table_, row, k)), widths_[k]);
    for (std::size_t k = 0; k < table_.meters.size(); ++k)
      rest +=
          fmt::format("{:>{}}", k < row.joules.size() ? fmt::format("~{:.3f}", row.joules[k]) : "-",
                      width_of("J " + table_.meters[k].name));
    lines_.push_back({name, std::move(rest)});
  }

  const TaskTable& table_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::size_t> widths_;  // of the counters' columns
  std::vector<Line> lines_;
  std::size_t width_ = kLeastName;  // of the column with names
};

TaskRow sum_of(const TaskTable& table) {
  TaskRow sum;
  const auto add = [](std::optional<std::uint64_t>& to, const std::optional<std::uint64_t>& more) {
    if (more) to = to.value_or(0) + *more;
  };
  for (const TaskRow& row : table.tasks) {
    add(sum.run_ns, row.run_ns);
    add(sum.wait_ns, row.wait_ns);
    add(sum.switches, row.switches);
    add(sum.migrations, row.migrations);
  }
  return sum;
}

std::string energy_text(const TaskTable& table) {
  std::string out;
  for (const sample::MeterSum& meter : table.meters) {
    const bool is_counted = meter.origin == sample::Origin::counted;
    const char* mark = is_counted ? "" : "~";
    out += fmt::format("{}: {}{:.3f} J of the whole machine, others and idle CPUs included",
                       printable(meter.name), mark, static_cast<double>(meter.microjoules) * 1e-6);
    if (meter.joules_of_nobody > 0)
      out += fmt::format("; {}{:.3f} J of it while no task ran", mark, meter.joules_of_nobody);
    if (!is_counted) out += "; added up from readings of watts";
    out += '\n';
  }
  for (const std::string& name : table.still_meters)
    out += fmt::format("{}: did not move, so that no energy is known by it\n", printable(name));
  if (!table.meters.empty())
    out += fmt::format("~ J: a model. Tasks share what the meter showed by their {}\n",
                       table.energy_goes_by_instructions ? "instructions" : "run time");
  return out;
}

// ,"energy":{"kind":"modelled","joules":{...}}
std::string modelled_energy(const TaskTable& table, const TaskRow& row) {
  std::string out = ",\"energy\":{\"kind\":\"modelled\",\"joules\":{";
  for (std::size_t k = 0; k < row.joules.size(); ++k)
    out += fmt::format("{}{}:{:.6f}", k > 0 ? "," : "", json_text(table.meters[k].name),
                       row.joules[k]);
  return out + "}}";
}

std::string optional_number(const std::optional<std::uint64_t>& value, const char* absent) {
  return value ? std::to_string(*value) : absent;
}

}  // namespace

std::string threads_text(const TaskTable& table) {
  std::string out =
      fmt::format("{}: {} task{} in {}", printable(table.path), table.tasks.size(),
                  table.tasks.size() == 1 ? "" : "s",
                  format_seconds(static_cast<double>(table.last_time - table.first_time) * 1e-9));
  if (!table.watched_by.empty()) out += ", watched by " + printable(table.watched_by);
  out += table.lost > 0 ? fmt::format("; {} records were lost\n", table.lost) : "\n";
  if (estimates_run_time(table)) out += kTicksNote;
  out += energy_text(table);
  Tree tree(table);
  out += tree.text();
  const TaskRow sum = sum_of(table);
  out += tree.padded("all") + fmt::format("{:>11}{:>11}{:>9}{:>7}", run_time(table, sum),
                                          seconds(sum.wait_ns), number(sum.switches),
                                          number(sum.migrations));
  for (std::size_t k = 0; k < table.counters.size(); ++k)
    out += fmt::format("{:>{}}", estimate_with_error(sample::estimate_of_all(table, k)),
                       width_of(table, k));
  out += '\n';
  if (out.find(kUnknownError) != std::string::npos)
    out +=
        "±?: fewer than 5 turns of its set saw the event, or none did: how far the count is off "
        "is not known\n";
  return out;
}

std::string threads_csv(const TaskTable& table) {
  std::string out =
      "pid,tid,parent_tid,comm,start_ns,end_ns,run_ns,wait_ns,switches,migrations,slices";
  out += estimates_csv_head(table);
  for (const sample::MeterSum& meter : table.meters)
    out += "," + csv_field("modelled J " + meter.name);
  out += '\n';
  for (const TaskRow& row : table.tasks) {
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{}", row.pid, row.tid,
        row.parent ? std::to_string(table.tasks[*row.parent].tid) : "", csv_field(row.comm),
        row.first_time, row.has_ended ? std::to_string(row.last_time) : "",
        optional_number(row.run_ns, ""), optional_number(row.wait_ns, ""),
        optional_number(row.switches, ""), optional_number(row.migrations, ""), row.slices);
    out += estimates_csv(table, row);
    for (std::size_t k = 0; k < table.meters.size(); ++k)
      out += k < row.joules.size() ? fmt::format(",{:.6f}", row.joules[k]) : ",";
    out += '\n';
  }
  return out;
}

std::string threads_json(const TaskTable& table) {
  std::string out = "{\"schema\":\"loft.threads/1\",\"file\":" + json_text(table.path) +
                    ",\"watched_by\":" + json_text(table.watched_by) + run_kind_json(table) +
                    fmt::format(",\"lost\":{},\"waiting\":\"{}\",\"energy\":[", table.lost,
                                table.waiting_is_whole ? "whole" : "preempted");
  for (std::size_t i = 0; i < table.meters.size(); ++i)
    out += fmt::format(
        "{}{{\"name\":{},\"joules\":{:.6f},\"kind\":\"{}\",\"joules_of_nobody\":{:.6f},"
        "\"shared_by\":\"{}\"}}",
        i > 0 ? "," : "", json_text(table.meters[i].name),
        static_cast<double>(table.meters[i].microjoules) * 1e-6, to_string(table.meters[i].origin),
        table.meters[i].joules_of_nobody,
        table.energy_goes_by_instructions ? "instructions" : "run time");
  out += "],\"tasks\":[";
  for (std::size_t i = 0; i < table.tasks.size(); ++i) {
    const TaskRow& row = table.tasks[i];
    out += fmt::format(
        "{}{{\"pid\":{},\"tid\":{},\"parent_tid\":{},\"comm\":{},\"start_ns\":{},\"end_ns\":{},"
        "\"run_ns\":{},\"wait_ns\":{},\"switches\":{},\"migrations\":{},\"slices\":{},"
        "{}",
        i > 0 ? ",\n" : "\n", row.pid, row.tid,
        row.parent ? std::to_string(table.tasks[*row.parent].tid) : "null", json_text(row.comm),
        row.first_time, row.has_ended ? std::to_string(row.last_time) : "null",
        optional_number(row.run_ns, "null"), optional_number(row.wait_ns, "null"),
        optional_number(row.switches, "null"), optional_number(row.migrations, "null"), row.slices,
        estimates_json(table, row));
    if (!row.joules.empty()) out += modelled_energy(table, row);
    out += "}";
  }
  out += "\n]}\n";
  return out;
}

}  // namespace loft::view
