#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/xml_text.hpp"
#include "view/csv.hpp"
#include "view/json_text.hpp"
#include "view/tasks.hpp"

namespace loft::view {
namespace {

using sample::TaskRun;
using sample::TaskTable;

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

std::string name_of(const TaskTable& table, std::size_t task) {
  const auto& row = table.tasks[task];
  return fmt::format("{} {}", printable(row.comm.empty() ? "?" : row.comm), row.tid);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %",
                                  100 * static_cast<double>(part) / static_cast<double>(whole));
}

// A lane is cut into cells; each belongs to whoever had most of it.
struct Cell {
  std::size_t owner = kNobody;
  double share = 0;  // of the cell, by all
};

class Lanes {
 public:
  // `key` chooses the lane of a run, or kNobody for none; `owner` who it counts for.
  template <class Key, class Owner>
  Lanes(const TaskTable& table, std::size_t cells, Key key, Owner owner)
      : start_(table.first_time),
        span_(std::max<std::uint64_t>(1, table.last_time - table.first_time)),
        cells_(cells) {
    std::map<std::size_t, std::vector<std::map<std::size_t, double>>> time;
    for (const TaskRun& run : table.runs) {
      const std::size_t which = key(run);
      if (which == kNobody) continue;
      auto& lane = time[which];
      lane.resize(cells);
      spread(run, [&](std::size_t cell, double part) { lane[cell][owner(run)] += part; });
    }
    for (auto& [which, lane] : time) {
      auto& row = rows_[which];
      for (const auto& owners : lane) {
        Cell cell;
        double most = 0;
        for (const auto& [who, part] : owners) {
          cell.share += part;
          if (part > most) {
            most = part;
            cell.owner = who;
          }
        }
        cell.share = std::min(1.0, cell.share);
        row.push_back(cell);
      }
    }
  }

  [[nodiscard]] const std::map<std::size_t, std::vector<Cell>>& rows() const { return rows_; }

 private:
  template <class Put>
  void spread(const TaskRun& run, Put put) const {
    const double per_cell = static_cast<double>(span_) / static_cast<double>(cells_);
    const double from = static_cast<double>(run.start - std::min(run.start, start_)) / per_cell;
    const double to = static_cast<double>(run.end - std::min(run.end, start_)) / per_cell;
    for (auto cell = static_cast<std::size_t>(from);
         cell < cells_ && static_cast<double>(cell) < to; ++cell) {
      const double left = std::max(from, static_cast<double>(cell));
      const double right = std::min(to, static_cast<double>(cell + 1));
      if (right > left) put(cell, right - left);
    }
  }

  std::uint64_t start_;
  std::uint64_t span_;
  std::size_t cells_;
  std::map<std::size_t, std::vector<Cell>> rows_;
};

// Tasks that ran longest, first; all that ran, be it for no time at all.
std::vector<std::size_t> by_run_time(const TaskTable& table, std::vector<std::uint64_t>& on_cpu) {
  on_cpu.assign(table.tasks.size(), 0);
  std::vector<bool> has_run(table.tasks.size());
  for (const TaskRun& run : table.runs) {
    on_cpu[run.task] += run.end - std::min(run.start, run.end);
    has_run[run.task] = true;
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < table.tasks.size(); ++i)
    if (has_run[i]) order.push_back(i);
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return on_cpu[a] > on_cpu[b]; });
  return order;
}

std::string nothing_recorded() {
  return "no switches were recorded: record with --types that has sched (or perf record "
         "--switch-events)\n";
}

// Told apart by people who do not see all colours; what comes after them is grey.
constexpr std::array<std::string_view, 8> kColours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                                      "#56B4E9", "#D55E00", "#8A6D00", "#7F3F98"};
constexpr std::string_view kOthers = "#9A9A9A";

class Drawing {
 public:
  explicit Drawing(const TaskTable& table)
      : table_(table),
        order_(by_run_time(table, on_cpu_)),
        span_s_(static_cast<double>(table.last_time - table.first_time) * 1e-9) {
    rank_.assign(table.tasks.size(), order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = i;
  }

  std::string draw() {
    const Lanes cpus(
        table_, kCells, [](const TaskRun& run) { return std::size_t{run.cpu}; },
        [](const TaskRun& run) { return run.task; });
    const Lanes tasks(
        table_, kCells,
        [this](const TaskRun& run) {
          return rank_[run.task] < kMostTasks ? rank_[run.task] : kNobody;
        },
        [](const TaskRun& run) { return std::size_t{run.cpu}; });
    heading(fmt::format("{}: {} tasks on {} CPUs, {}", printable(table_.path),
                        with_separators(order_.size()), cpus.rows().size(),
                        format_seconds(span_s_)));
    section("CPUs, by the task that ran");
    for (const auto& [cpu, row] : cpus.rows())
      lane(
          fmt::format("CPU {}", cpu), row, [this](std::size_t task) { return task_colour(task); },
          busy(row));
    section("Tasks, by the CPU that they ran on");
    name_cpus(cpus);
    for (const auto& [rank, row] : tasks.rows()) {
      lane(
          name_of(table_, order_[rank]), row,
          [](std::size_t cpu) { return kColours[cpu % kColours.size()]; },
          format_seconds(static_cast<double>(on_cpu_[order_[rank]]) * 1e-9),
          rank < kColours.size() ? kColours[rank] : kOthers);
    }
    if (order_.size() > kMostTasks) {
      y_ += 4;
      text(kLeft, y_ + 10, fmt::format("and {} tasks that ran less", order_.size() - kMostTasks));
      y_ += 16;
    }
    axis();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{2}</svg>\n",
        kWidth, y_ + 12, out_);
  }

 private:
  static constexpr std::size_t kCells = 1000;
  static constexpr std::size_t kMostTasks = 60;
  static constexpr int kWidth = 1280;
  static constexpr double kLeft = 180;
  static constexpr double kLane = 16;

  void text(double x, double y, const std::string& what, std::string_view more = "") {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#222\"{}>{}</text>\n", x, y, more,
                        xml_text(what));
  }
  void heading(const std::string& what) {
    text(16, 24, what, " font-size=\"15\" font-weight=\"bold\"");
    y_ = 36;
  }
  void section(const std::string& what) {
    y_ += 10;
    text(16, y_ + 10, what, " font-weight=\"bold\"");
    y_ += 18;
  }

  // Behind the heading of the tasks: which colour is which CPU.
  void name_cpus(const Lanes& cpus) {
    double x = kLeft + 110;
    for (const auto& [cpu, row] : cpus.rows()) {
      if (cpu >= kColours.size()) break;  // from there on colours repeat
      out_ +=
          fmt::format("<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"9\" height=\"9\" fill=\"{}\"/>\n", x,
                      y_ - 16, kColours[cpu]);
      text(x + 13, y_ - 8, fmt::format("CPU {}", cpu));
      x += 70;
    }
  }

  std::string_view task_colour(std::size_t task) const {
    const std::size_t rank = rank_[task];
    return rank < kColours.size() ? kColours[rank] : kOthers;
  }

  static std::string busy(const std::vector<Cell>& row) {
    double sum = 0;
    for (const Cell& cell : row) sum += cell.share;
    return fmt::format("{:.1f} % busy", 100 * sum / static_cast<double>(kCells));
  }

  template <class Colour>
  void lane(const std::string& label, const std::vector<Cell>& row, Colour colour,
            const std::string& remark, std::string_view mark = "") {
    if (!mark.empty())
      out_ += fmt::format("<rect x=\"16\" y=\"{:.1f}\" width=\"9\" height=\"9\" fill=\"{}\"/>\n",
                          y_ + 3, mark);
    text(mark.empty() ? 16 : 30, y_ + 12, label.substr(0, 22));
    out_ +=
        fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"#F3F3F3\"/>\n",
                    kLeft, y_ + 1, kCells, kLane - 3);
    for (std::size_t i = 0; i < row.size();) {
      std::size_t end = i + 1;
      const auto height = [](const Cell& cell) { return static_cast<int>(cell.share * 4 + 0.999); };
      while (end < row.size() && row[end].owner == row[i].owner &&
             height(row[end]) == height(row[i]))
        ++end;
      if (row[i].owner != kNobody) {
        // The fuller the cell, the higher the bar.
        const double full = (kLane - 3) * height(row[i]) / 4;
        out_ += fmt::format(
            "<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
            kLeft + static_cast<double>(i), y_ + 1 + (kLane - 3) - full, end - i, full,
            colour(row[i].owner));
      }
      i = end;
    }
    text(kLeft + kCells + 8, y_ + 12, remark);
    y_ += kLane;
  }

  // 1, 2 or 5 of some power of ten, at least this much.
  static double round_step(double least) {
    if (!(least > 0)) return 0;
    const double ten = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
      if (factor * ten >= least) return factor * ten;
    return 10 * ten;
  }

  void axis() {
    y_ += 6;
    const double step = round_step(span_s_ / 10);
    for (int i = 0; step > 0 && i * step <= span_s_; ++i) {
      const double x = kLeft + static_cast<double>(kCells) * i * step / span_s_;
      out_ += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#888\"/>\n",
          x, y_, y_ + 5);
      text(x, y_ + 18, format_seconds(i * step), " text-anchor=\"middle\"");
    }
    y_ += 22;
  }

  const TaskTable& table_;
  std::vector<std::uint64_t> on_cpu_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> rank_;  // of each task, by its run time
  double span_s_;
  double y_ = 0;
  std::string out_;
};

}  // namespace

std::string schedule_text(const TaskTable& table, int columns) {
  if (!table.has_switches) return nothing_recorded();
  std::vector<std::uint64_t> on_cpu;
  const auto order = by_run_time(table, on_cpu);
  std::map<std::size_t, char> letters;
  for (std::size_t i = 0; i < order.size(); ++i)
    letters[order[i]] = i < kLetters.size() ? kLetters[i] : '*';
  const auto cells = static_cast<std::size_t>(std::clamp(columns - 18, 40, 400));
  const Lanes lanes(
      table, cells, [](const TaskRun& run) { return std::size_t{run.cpu}; },
      [](const TaskRun& run) { return run.task; });
  const std::uint64_t span = table.last_time - table.first_time;
  std::string out =
      fmt::format("{}: {}, one column is {}\n", printable(table.path),
                  format_seconds(static_cast<double>(span) * 1e-9),
                  format_seconds(static_cast<double>(span) * 1e-9 / static_cast<double>(cells)));
  for (const auto& [cpu, row] : lanes.rows()) {
    double busy = 0;
    out += fmt::format("CPU {:<4}", cpu);
    for (const Cell& cell : row) {
      out += cell.owner == kNobody ? '.' : letters[cell.owner];
      busy += cell.share;
    }
    out += fmt::format(" {:5.1f} %\n", 100 * busy / static_cast<double>(cells));
  }
  for (const std::size_t task : order)
    out += fmt::format("{} {:<28}{:>12}{:>10}\n", letters[task], name_of(table, task),
                       format_seconds(static_cast<double>(on_cpu[task]) * 1e-9),
                       percent(on_cpu[task], span));
  return out;
}

std::string schedule_svg(const TaskTable& table) { return Drawing(table).draw(); }

std::string schedule_csv(const TaskTable& table) {
  std::string out = "cpu,start_ns,end_ns,pid,tid,comm\n";
  for (const TaskRun& run : table.runs) {
    const auto& row = table.tasks[run.task];
    out += fmt::format("{},{},{},{},{},{}\n", run.cpu, run.start, run.end, row.pid, row.tid,
                       csv_field(row.comm));
  }
  return out;
}

std::string schedule_json(const TaskTable& table) {
  std::string out =
      "{\"schema\":\"loft.schedule/1\",\"file\":" + json_text(table.path) +
      fmt::format(",\"first_ns\":{},\"last_ns\":{},\"tasks\":[", table.first_time, table.last_time);
  for (std::size_t i = 0; i < table.tasks.size(); ++i)
    out += fmt::format("{}{{\"pid\":{},\"tid\":{},\"comm\":{}}}", i > 0 ? "," : "",
                       table.tasks[i].pid, table.tasks[i].tid, json_text(table.tasks[i].comm));
  out += "],\"runs\":[";
  for (std::size_t i = 0; i < table.runs.size(); ++i)
    out += fmt::format("{}{{\"cpu\":{},\"task\":{},\"start_ns\":{},\"end_ns\":{}}}",
                       i > 0 ? ",\n" : "\n", table.runs[i].cpu, table.runs[i].task,
                       table.runs[i].start, table.runs[i].end);
  out += "\n]}\n";
  return out;
}

}  // namespace loft::view
