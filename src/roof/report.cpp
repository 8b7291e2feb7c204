#include "roof/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "model/roof_advice.hpp"
#include "model/roof_caveats.hpp"
#include "source/file/schedule.hpp"

namespace loft::roof {
namespace {

using model::RoofReport;
using model::Scope;
using model::Subject;

void keep_wanted(std::vector<Subject>& subjects, const Wanted& wanted,
                 std::vector<std::string>& notes) {
  const auto count_functions = [&] {
    return std::ranges::count(subjects, Scope::function, &Subject::scope);
  };
  const auto all = count_functions();
  std::erase_if(subjects, [&](const Subject& subject) {
    if (subject.scope == Scope::thread) return !wanted.threads;
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

// How long each took is not known: samples tell functions apart, not their blocks.
void add_loops(const CountedWork& counted, std::vector<Subject>& subjects) {
  for (const LoopWork& loop : counted.loops) {
    Subject subject;
    subject.scope = Scope::loop;
    subject.name = loop.function.name;
    subject.binary = loop.function.binary;
    subject.work = loop.work;
    subject.loop = loop.facts;
    subjects.push_back(std::move(subject));
  }
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

}  // namespace

RoofReport report_of(const Measured& measured, const model::Machine& machine,
                     const Wanted& wanted) {
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
  report.energy = native.counts.energy;
  report.function_energy = native.energy_of_functions();
  report.notes = native.counts.notes;
  report.schedule = source::read_schedule(*native.recording);
  report.start_time = native.start;
  report.thread_names = native.threads();
  Joined joined = join(native.times(), measured.counted);
  std::ranges::move(joined.notes, std::back_inserter(report.notes));
  const bool is_short = joined.is_short;
  if (measured.account)
    explain(*measured.account,
            {machine.frequency_hz, report.wall_seconds, able_seconds(report.schedule)},
            joined.subjects);
  add_loops(measured.counted, joined.subjects);
  place(report, std::move(joined.subjects), machine, wanted);
  if (!is_short) report.advice = model::advice(report.chart);
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
  place(report, std::move(run.subjects), machine, wanted);
  return report;
}

model::Machine roofs_of_memory(model::Machine machine) {
  std::erase_if(machine.roofs, [](const model::Roof& roof) {
    return roof.kind == model::RoofKind::bandwidth && roof.level != "DRAM";
  });
  return machine;
}

}  // namespace loft::roof
