#include "roof/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "machine/geometry.hpp"
#include "model/roof_advice.hpp"
#include "model/roof_caveats.hpp"
#include "roof/annotate.hpp"
#include "roof/elsewhere.hpp"
#include "roof/loop_time.hpp"
#include "roof/regions.hpp"
#include "source/file/schedule.hpp"

namespace loft::roof {
namespace {

using model::RoofReport;
using model::Scope;
using model::Subject;

// Functions whose code is listed, so that a page stays small.
constexpr std::size_t kMostListed = 10;
constexpr double kWorthListing = 0.02;  // of the time
constexpr std::size_t kMostInstructions = 2500;

void keep_wanted(std::vector<Subject>& subjects, const Wanted& wanted,
                 std::vector<std::string>& notes) {
  const auto count_functions = [&] {
    return std::ranges::count(subjects, Scope::function, &Subject::scope);
  };
  const auto all = count_functions();
  std::erase_if(subjects, [&](const Subject& subject) {
    if (subject.scope == Scope::thread) return !wanted.threads;
    if (subject.scope == Scope::region) return subject.tid != 0 && !wanted.threads;
    const bool has_name = subject.scope == Scope::function || subject.scope == Scope::loop;
    return has_name && !wanted.functions.empty() &&
           std::ranges::none_of(wanted.functions, [&](const std::string& name) {
             return subject.name.find(name) != std::string::npos;
           });
  });
  if (all > 0 && count_functions() == 0)
    notes.push_back(fmt::format("of its {} functions none has '{}' in its name", all,
                                loft::join(wanted.functions, "' or '")));
}

// A few of them are in every program: printing a number takes some.
void note_x87(const std::vector<Subject>& subjects, std::vector<std::string>& notes) {
  constexpr double kWorthSaying = 0.001;
  for (const Subject& subject : subjects)
    if (subject.scope == Scope::run && subject.work &&
        subject.work->flops_x87 > kWorthSaying * subject.work->flops())
      notes.push_back(
          fmt::format("{:.2g} % of its floating-point operations are x87's, in extended precision: "
                      "they stand under the roofs of double precision",
                      100 * subject.work->flops_x87 / subject.work->flops()));
}

void place(RoofReport& report, std::vector<Subject> subjects, const model::Machine& machine,
           const Wanted& wanted) {
  if (report.exit_status != 0)
    report.notes.push_back("the program ended with status " + status_words(report.exit_status) +
                           ": this is what it did until then, and perhaps not all");
  note_x87(subjects, report.notes);
  keep_wanted(subjects, wanted, report.notes);
  report.machine_identity = machine.identity;
  report.chart = model::place(machine, std::move(subjects), wanted.top, wanted.ops);
  std::ranges::move(model::roof_caveats(report.chart), std::back_inserter(report.notes));
}

// The code of the functions that took most time, as it was counted or as a recording has it.
std::vector<model::AnnotatedFunction> listed(const Measured& measured,
                                             const std::vector<model::RoofPoint>& points,
                                             const Wanted& wanted) {
  AnnotateWanted functions{.names = wanted.functions,
                           .top = kMostListed,
                           .least_share = kWorthListing,
                           .most_instructions = kMostInstructions};
  if (measured.code.empty()) return chosen(measured.kept.code, functions);
  SourcesAtHand sources;
  return annotate(measured.code, addresses_of(measured.native), points, functions, sources);
}

void apply(const KeptAnalysis& kept, std::vector<Subject>& subjects) {
  const Verdicts& verdicts = kept.verdicts;
  for (Subject& subject : subjects) {
    if (subject.scope == Scope::slice) {
      const auto slice =
          std::ranges::find(kept.slices, subject.start, &std::pair<double, model::Why>::first);
      if (slice != kept.slices.end()) subject.why = slice->second;
    }
    const bool is_part = subject.scope == Scope::function || subject.loop;
    if (!is_part && subject.scope != Scope::run) continue;
    const auto found = verdicts.find(is_part ? part_key(subject) : FunctionKey{});
    if (found != verdicts.end()) subject.why = found->second;
  }
}

double run_seconds(const std::vector<Subject>& subjects) {
  const auto run = std::ranges::find(subjects, Scope::run, &Subject::scope);
  return run == subjects.end() ? 0 : run->seconds;
}

RoofReport facts_of(const Measured& measured) {
  const NativeProfile& native = measured.native;
  RoofReport report;
  report.command = native.counts.command;
  report.exit_status = native.counts.exit_status;
  report.wall_seconds = to_seconds(native.counts.wall);
  report.cpu_seconds = native.cpu_seconds();
  const CountedBy by = measured.counted.by;
  report.threads =
      by == CountedBy::nobody ? native.threads().size() : measured.counted.threads.size();
  report.counts_from = by == CountedBy::counters ? "hardware counters"
                       : by == CountedBy::nobody ? "none"
                                                 : "virtual PMU, exact";
  const auto& total = measured.counted.total;
  if (measured.counted.bytes_are_of_memory)
    report.counts_from += "; bytes of memory modelled";
  else if (total && total->levels.is_known())
    report.counts_from += "; bytes between levels modelled";
  report.energy = native.counts.energy;
  report.function_energy = native.energy_of_functions();
  report.notes = native.counts.notes;
  report.schedule = source::read_schedule(*native.recording);
  report.start_time = native.start;
  report.thread_names = native.threads();
  return report;
}

}  // namespace

RoofReport report_of(const Measured& measured, const model::Machine& machine,
                     const Wanted& wanted) {
  const NativeProfile& native = measured.native;
  RoofReport report = facts_of(measured);
  Joined joined = join(native.times(), measured.counted);
  std::ranges::move(joined.notes, std::back_inserter(report.notes));
  const bool is_short = joined.is_short;
  if (wanted.all_loops) report.least_loop = kLoopWorthAPoint;
  report.shows_what_if = wanted.what_if;
  add_loop_subjects(measured.counted.loops, addresses_of(native), machine.frequency_hz,
                    joined.subjects);
  add_region_subjects(measured.counted.regions, report.wall_seconds,
                      !measured.counted.bytes_are_of_memory, joined.subjects);
  if (!measured.counted.regions.empty())
    report.notes.emplace_back(
        "regions have the time of the clock: what they waited, and what other programs had of the "
        "CPUs meanwhile, is in it");
  if (measured.account)
    explain(*measured.account,
            {machine.frequency_hz, report.wall_seconds, able_seconds(report.schedule)},
            joined.subjects);
  else
    apply(measured.kept, joined.subjects);
  report.phases = measured.kept.phases;
  if (measured.counted.total && !measured.phases.empty()) {
    const double instructions = measured.counted.total->instructions.value_or(0);
    explain_slices(measured.phases, instructions, joined.subjects);
    report.phases =
        stretches_of(measured.phases, measured.phase_functions, instructions, joined.subjects);
  }
  place(report, std::move(joined.subjects), machine, wanted);
  if (!is_short) report.advice = model::advice(report.chart);
  if (wanted.code) report.code = listed(measured, report.chart.points, wanted);
  return report;
}

RoofReport report_elsewhere(const Measured& measured, const model::Machine& machine,
                            const model::Machine& other, const Wanted& wanted) {
  RoofReport report = facts_of(measured);
  report.schedule.clear();
  report.energy.clear();
  report.function_energy.clear();
  report.time_is_estimated = true;
  report.shows_what_if = wanted.what_if;
  Joined joined = join(measured.native.times(), measured.counted);
  std::ranges::move(joined.notes, std::back_inserter(report.notes));
  if (!measured.account || !measured.elsewhere) {
    report.notes.emplace_back("how it would run on the other machine could not be modelled");
    joined.subjects.clear();
  } else {
    const double before = run_seconds(joined.subjects);
    const double known =
        move_to({machine, *measured.account}, {other, *measured.elsewhere}, joined.subjects);
    const double factor = before > 0 ? run_seconds(joined.subjects) / before : 0;
    report.wall_seconds *= factor;
    report.cpu_seconds *= factor;
    report.notes.push_back(fmt::format(
        "modelled, as it would be on {}: it ran on {}, and each function's time is changed by what "
        "the model says of both; that was known for {:.0f} % of the time, and the rest is taken to "
        "change alike",
        other.cpu, machine.cpu, known * 100));
  }
  place(report, std::move(joined.subjects), other, wanted);
  return report;
}

RoofReport report_of(CountedRun run, const model::Machine& machine, const Wanted& wanted) {
  RoofReport report;
  report.command = std::move(run.command);
  report.exit_status = run.exit_status;
  report.wall_seconds = run.wall_seconds;
  report.cpu_seconds = run.cpu_seconds;
  report.threads = run.threads;
  report.counts_from = "virtual PMU, exact";
  report.time_is_estimated = true;
  report.notes = std::move(run.notes);
  if (wanted.all_loops) report.least_loop = kLoopWorthAPoint;
  for (Subject& subject : run.subjects) set_cycles(machine.frequency_hz, subject);
  place(report, std::move(run.subjects), machine, wanted);
  return report;
}

KeptAnalysis analysis_of(const Measured& measured, const model::Machine& machine) {
  RoofReport report = report_of(measured, machine, {.code = true});
  KeptAnalysis analysis;
  for (const model::RoofPoint& point : report.chart.points) {
    const Subject& subject = point.subject;
    if (!subject.why) continue;
    if (subject.scope == Scope::run)
      analysis.verdicts[FunctionKey{}] = *subject.why;
    else if (subject.scope == Scope::slice)
      analysis.slices.emplace_back(subject.start, *subject.why);
    else if (subject.scope == Scope::function || subject.loop)
      analysis.verdicts[part_key(subject)] = *subject.why;
  }
  // Loops that are no points would be none again.
  std::set<FunctionKey> points;
  for (const model::RoofPoint& point : report.chart.points)
    if (point.subject.loop) points.insert(part_key(point.subject));
  for (const LoopWork& loop : measured.counted.loops)
    if (points.contains(loop_key(loop.function, loop.facts))) analysis.loops.push_back(loop);
  analysis.phases = std::move(report.phases);
  analysis.code = std::move(report.code);
  return analysis;
}

model::Machine roofs_of_memory(model::Machine machine) {
  std::erase_if(machine.roofs, [](const model::Roof& roof) {
    return roof.kind == model::RoofKind::bandwidth && roof.level != "DRAM";
  });
  return machine;
}

model::Machine roofs_for(BytesAt bytes, model::Machine machine) {
  if (bytes == BytesAt::core) return machine;
  const core::HierarchyGeometry caches = loft::machine::geometry_of(machine).caches;
  machine = model::roofs_of_traffic(std::move(machine),
                                    caches.l3_inclusion == core::Inclusion::exclusive);
  return bytes == BytesAt::memory ? roofs_of_memory(std::move(machine)) : machine;
}

}  // namespace loft::roof
