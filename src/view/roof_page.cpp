#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/page.hpp"
#include "view/roof.hpp"
#include "view/roof_page_tables.hpp"

namespace loft::view {
namespace {

using model::RoofPoint;
using model::Scope;

// Bytes as the core sees them, or as memory does.
std::string bytes_name(const model::RoofChart& chart) {
  return chart.roofline.is_of_memory() ? "memory traffic" : "loads and stores";
}

std::string rate_unit(const model::RoofChart& chart) {
  return fmt::format("{}/s", ops_unit(chart.roofline.work));
}

std::string intensity_unit(const model::RoofChart& chart) {
  return fmt::format("{}/B", ops_unit(chart.roofline.work));
}

void add_points(PageData& page, const model::RoofChart& chart, std::uint32_t run) {
  page.points.reserve(page.points.size() + chart.points.size());
  for (const RoofPoint& point : chart.points)
    if (point.intensity && point.ops_per_second) page.points.add(point, run);
}

void add_time_lines(PageData& page, const model::RoofChart& chart, std::uint32_t run) {
  PageTimeLine ops{"performance", rate_unit(chart), run, sample::Origin::modelled, {}, {}, {}};
  PageTimeLine bytes{bytes_name(chart), "B/s", run, sample::Origin::modelled, {}, {}, {}};
  for (const RoofPoint& point : chart.points) {
    if (point.subject.scope != Scope::slice) continue;
    for (PageTimeLine* line : {&ops, &bytes}) {
      line->start_s.push_back(point.subject.start);
      line->end_s.push_back(point.subject.end);
    }
    ops.origin = bytes.origin = point.subject.origin;
    ops.value.push_back(or_unknown(point.ops_per_second));
    bytes.value.push_back(or_unknown(point.bytes_per_second));
  }
  if (ops.value.empty()) return;
  page.time_lines.push_back(std::move(ops));
  page.time_lines.push_back(std::move(bytes));
}

// What passed each level of memory beyond the core, where a model told it.
void add_level_lines(PageData& page, const model::RoofChart& chart, std::uint32_t run) {
  std::vector<PageTimeLine> lines;
  for (const RoofPoint& point : chart.points) {
    if (point.subject.scope != Scope::slice) continue;
    for (const model::LevelPoint& at : point.levels) {
      if (at.level == "L1") continue;  // which the loads and stores are
      const std::string name = at.level + " traffic";
      auto line = std::ranges::find(lines, name, &PageTimeLine::name);
      if (line == lines.end())
        line = lines.insert(lines.end(), {name, "B/s", run, at.origin, {}, {}, {}});
      line->start_s.push_back(point.subject.start);
      line->end_s.push_back(point.subject.end);
      line->value.push_back(or_unknown(at.bytes_per_second));
    }
  }
  std::ranges::move(lines, std::back_inserter(page.time_lines));
}

// How much of the modelled time would be saved without each of the causes that matter most.
void add_cause_lines(PageData& page, const model::RoofChart& chart, std::uint32_t run) {
  constexpr std::size_t kMost = 4;
  constexpr double kWorthALane = 0.05;  // of the time of all slices
  std::map<core::Cause, double> saved;
  double slices = 0;
  const auto share_of = [](const model::Why& why, core::Cause cause) {
    const auto found =
        std::ranges::find(why.what_if, cause, &std::pair<core::Cause, double>::first);
    return found == why.what_if.end() ? 0 : 1 - 1 / found->second;
  };
  for (const RoofPoint& point : chart.points) {
    if (point.subject.scope != Scope::slice || !point.subject.why) continue;
    slices += 1;
    for (const auto& [cause, gain] : point.subject.why->what_if) saved[cause] += 1 - 1 / gain;
  }
  std::vector<std::pair<double, core::Cause>> order;
  for (const auto& [cause, sum] : saved)
    if (sum >= kWorthALane * slices) order.emplace_back(sum, cause);
  std::ranges::sort(order, std::ranges::greater());
  if (order.size() > kMost) order.resize(kMost);
  for (const auto& [sum, cause] : order) {
    PageTimeLine line{fmt::format("lost to: {}", model::words_of(cause)),
                      "%",
                      run,
                      sample::Origin::modelled,
                      {},
                      {},
                      {}};
    for (const RoofPoint& point : chart.points) {
      if (point.subject.scope != Scope::slice || !point.subject.why) continue;
      line.start_s.push_back(point.subject.start);
      line.end_s.push_back(point.subject.end);
      line.value.push_back(100 * share_of(*point.subject.why, cause));
    }
    page.time_lines.push_back(std::move(line));
  }
}

// Power between two looks at a meter. What is left at the end, shorter than the steps of some
// meters, belongs to the step before.
void add_power_lines(PageData& page, const RoofReport& report, std::uint32_t run) {
  constexpr double kLeastStep = 0.15;  // seconds
  for (const sample::EnergyUsed& used : report.energy) {
    PageTimeLine line{"power, " + used.meter, "W", run, used.origin, {}, {}, {}};
    sample::EnergySeen before;  // the beginning of the step, and its end so far
    sample::EnergySeen last;
    for (const sample::EnergySeen& seen : used.over_time) {
      if (!(seen.seconds > last.seconds)) continue;
      if (line.value.empty() || seen.seconds - last.seconds >= kLeastStep) {
        before = last;
        line.start_s.push_back(before.seconds);
        line.end_s.emplace_back();
        line.value.emplace_back();
      }
      line.end_s.back() = seen.seconds;
      line.value.back() = (seen.joules - before.joules) / (seen.seconds - before.seconds);
      last = seen;
    }
    if (!line.value.empty()) page.time_lines.push_back(std::move(line));
  }
}

// One table of functions or threads, of all runs.
PageTable table_of(std::string title, Scope scope, std::span<const RoofReport> runs) {
  PageColumn run{.name = "run", .form = CellForm::text};
  const bool has_ranks = runs.front().task_word() == std::string_view("rank");
  const bool is_region = scope == Scope::region;
  PageColumn name{.name = scope == Scope::function ? "function"
                          : is_region              ? "region"
                                                   : runs.front().task_word(),
                  .form = CellForm::text};
  PageColumn binary{.name = "binary", .form = CellForm::text};
  PageColumn time{.name = "time", .form = CellForm::share, .help = "share of the run's time"};
  PageColumn seconds{.name = "seconds", .form = CellForm::seconds};
  const model::RoofChart& chart = runs.front().chart;
  PageColumn rate{.name = "performance", .form = CellForm::number, .unit = rate_unit(chart)};
  PageColumn intensity{
      .name = "intensity", .form = CellForm::number, .unit = intensity_unit(chart)};
  PageColumn traffic{.name = bytes_name(chart), .form = CellForm::number, .unit = "B/s"};
  PageColumn limit{.name = "below", .form = CellForm::text, .help = "the next roof above it"};
  WhyColumns why;
  PageColumn share{
      .name = "of that", .form = CellForm::share, .help = "how much of that roof is reached"};
  const auto add = [&](const RoofPoint& point, const std::string& label) {
    const model::Subject& subject = point.subject;
    run.texts.push_back(label);
    const bool has_tid = is_region ? subject.tid != 0 : scope != Scope::function && !has_ranks;
    name.texts.push_back(has_tid ? fmt::format("{} {}", subject.tid, subject.name) : subject.name);
    binary.texts.push_back(subject.binary);
    time.numbers.push_back(subject.share_of_time);
    seconds.numbers.push_back(subject.seconds);
    rate.numbers.push_back(or_unknown(point.ops_per_second));
    intensity.numbers.push_back(or_unknown(point.intensity));
    traffic.numbers.push_back(or_unknown(point.bytes_per_second));
    limit.texts.push_back(point.limit ? point.limit->name : "");
    share.numbers.push_back(point.limit ? point.limit->share : kNotKnown);
    why.add(subject);
    for (PageColumn* column : {&time, &seconds, &traffic, &share})
      column->origins.push_back(subject.origin);
    // No operations are none, however long they took.
    const bool is_zero = point.ops_per_second == 0.0;
    rate.origins.push_back(is_zero ? subject.work_origin : subject.origin);
    intensity.origins.push_back(subject.work_origin);
  };
  for (const RoofReport& report : runs)
    for (const RoofPoint& point : report.chart.points)
      if (point.subject.scope == scope && point.subject.seconds > 0) add(point, report.label);
  PageTable table{std::move(title), {}, {}};
  if (runs.size() > 1) table.columns.push_back(run);
  table.columns.push_back(name);
  if (scope == Scope::function) table.columns.push_back(binary);
  for (PageColumn* column : {&time, &seconds, &rate, &intensity, &traffic, &limit, &share})
    table.columns.push_back(*column);
  if (scope == Scope::function)
    for (PageColumn* column : {&why.why, &why.gain, &why.evidence})
      table.columns.push_back(*column);
  return table;
}

PageFact energy_fact(const sample::EnergyUsed& used, double wall_seconds) {
  const bool is_counted = used.origin == sample::Origin::counted;
  const char* mark = is_counted ? "" : "~";
  return {"energy of " + used.meter,
          fmt::format("{}{}, {}{}{}", mark, with_si_prefix(used.joules, "J"), mark,
                      with_si_prefix(used.joules / wall_seconds, "W"),
                      is_counted ? "" : ", added up from readings of watts")};
}

std::vector<PageFact> facts_of(const RoofReport& report) {
  std::vector<PageFact> facts{
      {"command", join(report.command, " ")},
      {"exit status", std::to_string(report.exit_status)},
      {"wall time", format_seconds(report.wall_seconds)},
      {"CPU time", format_seconds(report.cpu_seconds)},
      {fmt::format("{}s", report.task_word()), std::to_string(report.threads)},
      {"CPU", report.chart.roofline.machine},
      {"machine file", report.machine_identity}};
  for (const sample::EnergyUsed& used : report.energy)
    facts.push_back(energy_fact(used, report.wall_seconds));
  return facts;
}

void add_figures(PageData& page, const RoofReport& report, const std::string& label) {
  for (const RoofPoint& point : report.chart.points) {
    if (point.subject.scope != Scope::run) continue;
    page.figures.push_back({label + "time", format_seconds(report.wall_seconds),
                            fmt::format("{} of CPU time", format_seconds(report.cpu_seconds)),
                            sample::Origin::counted});
    if (point.ops_per_second)
      page.figures.push_back(
          {label + "attained", with_si_prefix(*point.ops_per_second, rate_unit(report.chart)),
           point.limit ? fmt::format("{:.0f} % of {}", point.limit->share * 100, point.limit->name)
                       : "no floating point",
           point.subject.origin});
    if (point.intensity)
      page.figures.push_back(
          {label + "intensity",
           fmt::format("{:.3g} {}", *point.intensity, intensity_unit(report.chart)),
           "operations per byte", point.subject.work_origin});
    if (point.bytes_per_second)
      page.figures.push_back({label + bytes_name(report.chart),
                              with_si_prefix(*point.bytes_per_second, "B/s"), "",
                              point.subject.origin});
  }
}

// What all runs have in common; the facts of each stand at the end of the page.
void add_head(PageData& page, std::span<const RoofReport> runs) {
  const auto command_of = [](const RoofReport& run) { return join(run.command, " "); };
  const auto source_of = [](const RoofReport& run) {
    return fmt::format("counts: {}; time: {}", run.counts_from, run.time_from());
  };
  const auto shared = [&](const auto& text_of) {
    const std::string text = text_of(runs.front());
    return std::ranges::all_of(runs, [&](const auto& run) { return text_of(run) == text; })
               ? text
               : std::string();
  };
  page.command = shared(command_of);
  page.source = shared(source_of);
  std::vector<std::string> labels;
  for (const RoofReport& run : runs) labels.push_back(run.label);
  const auto& words = runs.front().command;
  page.title = runs.size() > 1 ? join(labels, ", ") : words.empty() ? "roofline" : words.front();
}

// Those of the first run are shown first; a run on more threads, or in another precision, has its
// own.
void add_rooflines(PageData& page, std::span<const RoofReport> runs) {
  for (const RoofReport& run : runs) {
    const model::Roofline& roofs = run.chart.roofline;
    if (std::ranges::none_of(page.rooflines, [&](const model::Roofline& one) {
          return one.threads == roofs.threads && one.precision == roofs.precision &&
                 one.work == roofs.work && one.machine == roofs.machine;
        }))
      page.rooflines.push_back(roofs);
  }
}

// Numbers of threads may come back in another run: then the first has the name.
void add_thread_names(PageData& page, std::span<const RoofReport> runs) {
  for (const RoofReport& run : runs)
    for (const auto& [tid, name, node] : run.thread_names)
      if (std::ranges::find(page.threads, tid, &PageThread::tid) == page.threads.end())
        page.threads.push_back({tid, name, node});
  page.has_ranks = runs.front().task_word() == std::string_view("rank");
}

void add_flames(PageData& page, const std::optional<sample::NamedProfile>& profile,
                const std::string& label) {
  if (!profile) return;
  const auto tree = sample::make_call_tree(profile->result.tree, profile->locations,
                                           sample::TreeOrder::from_callers);
  for (PageFlame& flame : page_flames(*profile, tree)) {
    flame.title = label + flame.title;
    page.flames.push_back(std::move(flame));
  }
}

// Since the start of the run.
void add_schedule(PageData& page, const RoofReport& run) {
  const auto seconds = [&](std::uint64_t time) {
    return static_cast<double>(std::max(time, run.start_time) - run.start_time) * 1e-9;
  };
  PageSchedule schedule;
  for (const sample::RunSlice& slice : run.schedule)
    schedule.add(slice.tid, slice.cpu.value_or(PageSchedule::kNoCpu), seconds(slice.start),
                 seconds(slice.end));
  if (!schedule.tid.empty()) page.schedule = std::move(schedule);
}

}  // namespace

Result<std::string> roof_html(std::span<const RoofReport> runs, const RoofProfiles& profiles) {
  const RoofReport& first = runs.front();
  PageData page;
  add_head(page, runs);
  add_rooflines(page, runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RoofReport& report = runs[i];
    const auto run = static_cast<std::uint32_t>(i);
    const std::string label = report.label.empty() ? "" : report.label + ": ";
    if (!report.label.empty()) page.runs.push_back(report.label);
    add_figures(page, report, label);
    if (!report.advice.empty()) page.verdict.push_back(label + report.advice);
    for (const std::string& note : report.notes)
      page.warnings.push_back({WarningKind::note, label + note});
    add_points(page, report.chart, run);
    add_time_lines(page, report.chart, run);
    add_level_lines(page, report.chart, run);
    add_cause_lines(page, report.chart, run);
    add_power_lines(page, report, run);
    if (i < profiles.size()) add_flames(page, profiles[i], label);
    page.facts.push_back({label.empty() ? "Run" : "Run " + report.label, facts_of(report)});
  }
  const bool has_slices = std::ranges::any_of(page.time_lines, [](const PageTimeLine& line) {
    return line.origin == sample::Origin::modelled;
  });
  add_schedule(page, first);
  add_thread_names(page, runs);
  if (runs.size() > 1 && !page.time_lines.empty())
    page.warnings.push_back(
        {WarningKind::note,
         "time is since the start of each run" +
             (page.schedule ? "; the schedule is that of " + first.label : std::string())});
  if (has_slices && !first.time_is_estimated)
    page.warnings.push_back(
        {WarningKind::estimated,
         "the work of a slice of time is modelled: each function's work is spread evenly over its "
         "own time"});
  page.tables = {table_of("Functions", Scope::function, runs)};
  if (PageTable regions = table_of("Regions", Scope::region, runs);
      !regions.columns.front().texts.empty())
    page.tables.push_back(std::move(regions));
  for (auto& table :
       {levels_table(runs), loops_table(runs), phases_table(runs), what_if_table(runs)})
    if (table) page.tables.push_back(*table);
  for (const RoofReport& run : runs)
    for (const model::AnnotatedFunction& function : run.code)
      page.codes.push_back(page_code(function));
  if (PageTable threads =
          table_of(runs.front().task_word() == std::string_view("rank") ? "Ranks" : "Threads",
                   Scope::thread, runs);
      !threads.columns.front().texts.empty())
    page.tables.push_back(std::move(threads));
  return page_html(page);
}

}  // namespace loft::view
