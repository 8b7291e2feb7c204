// loft roof: how close a program comes to the limits of the machine.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/file.hpp"
#include "base/places.hpp"
#include "base/units.hpp"
#include "cli/call_flags.hpp"
#include "cli/command.hpp"
#include "cli/machine_at_hand.hpp"
#include "cli/progress.hpp"
#include "cli/roof_flags.hpp"
#include "cli/roof_outputs.hpp"
#include "job/measure.hpp"
#include "machine/file.hpp"
#include "roof/call_points.hpp"
#include "roof/level_bytes.hpp"
#include "roof/once.hpp"
#include "roof/run_file.hpp"
#include "roof/work_events.hpp"
#include "source/perf_events/open.hpp"

namespace loft::cli {
namespace {

Failure needs_two_runs() {
  return roof_usage(
      "this machine has no counters of operations and bytes, and a rank of a parallel job "
      "cannot run twice",
      "add --once; or start two jobs, with --job DIR --pass time and with --job DIR --pass "
      "counts, which 'loft report DIR' joins");
}

// Operations and bytes by counters of the machine, where it has them.
Result<roof::WorkCounters> counters_at_hand(const RoofFlags& flags, Terminal& terminal) {
  const std::string shared = join_path(share_directory(), "metrics");
  if (flags.metrics.files.empty() && !file_exists(shared))
    return failure(ErrorKind::not_found, "count operations and bytes with hardware counters",
                   "the metrics that say which events these are are not in '" + shared + "'",
                   "install loft's share folder there, or name a folder with --metrics");
  MetricFlags metrics = flags.metrics;
  metrics.machine = flags.machine;
  LOFT_TRY(const auto library, load_metrics(metrics, terminal));
  return roof::WorkCounters::find(library, flags.model == "dram");
}

// Nothing where the virtual PMU is to count, or has to.
Result<std::optional<roof::WorkCounters>> choose_counters(const RoofFlags& flags,
                                                          Terminal& terminal) {
  if (flags.source.is_virtual() || flags.loops || flags.ops == "int" || flags.model == "levels")
    return std::nullopt;
  auto found = counters_at_hand(flags, terminal);
  if (found) return *std::move(found);
  if (!flags.pids.empty() && found.error().kind == ErrorKind::unsupported)
    found.error().hint = "start the program with loft instead: loft roof -- COMMAND";
  if (flags.source.asked() == sample::Source::perf_events || !flags.pids.empty())
    return Failure(std::move(found).error());
  // On a machine without counters their metrics are not missed.
  if (found.error().kind == ErrorKind::not_found && source::perf_events::has_core_pmu())
    terminal.note("note: " + to_string(found.error()) + "; the virtual PMU counts instead\n");
  return std::nullopt;
}

// The native run has the terminal for itself; of what follows, a line tells.
auto show_passes(std::optional<ProgressLine>& line, Terminal& terminal) {
  return [&](std::string_view doing, double native_seconds) {
    line.reset();
    line.emplace(terminal,
                 fmt::format("natively it took {}; {}", format_seconds(native_seconds), doing));
  };
}

// How it would run on another machine, by what the virtual PMU and a model say.
Result<int> run_for_another(const RoofFlags& flags, Terminal& terminal) {
  LOFT_TRY(const model::Machine other, machine::load(flags.other_machine));
  LOFT_TRY(const model::Machine machine, machine_at_hand(flags.machine, terminal));
  auto measured = std::make_unique<roof::Measured>();
  std::optional<ProgressLine> line;
  roof::Target target = target_of(flags);
  target.on_pass = show_passes(line, terminal);
  LOFT_TRY(*measured, roof::measure_twice(target, machine, &other));
  line.reset();
  model::RoofReport report = roof::report_elsewhere(*measured, machine, other, wanted_of(flags));
  RoofReports reports;
  reports.add(std::move(report), std::move(measured));
  LOFT_CHECK(write_reports(reports, flags.output, Stream::notes, terminal));
  return reports.runs.front().exit_status;
}

Result<int> run_program(const RoofFlags& flags, Terminal& terminal) {
  if (!flags.other_machine.empty()) return run_for_another(flags, terminal);
  LOFT_TRY(const auto counters, choose_counters(flags, terminal));
  if (!counters && is_rank(flags)) return needs_two_runs();
  LOFT_TRY(model::Machine machine, machine_at_hand(flags.machine, terminal));
  roof::Target target = target_of(flags);
  std::optional<ProgressLine> line;
  target.on_pass = show_passes(line, terminal);
  auto measured = std::make_unique<roof::Measured>();
  if (counters) {
    if (target.bytes == roof::BytesAt::memory) machine = roof::roofs_of_memory(std::move(machine));
    target.bytes = roof::BytesAt::core;  // as the counters have them
  }
  LOFT_TRY(*measured, counters ? roof::measure_by_counters(target, *counters, machine)
                               : roof::measure_twice(target, machine));
  line.reset();
  model::RoofReport report =
      roof::report_of(*measured, roof::roofs_for(target.bytes, machine), wanted_of(flags));
  if (!flags.calls.empty()) {
    LOFT_TRY(const auto calls,
             roof::measure_call_points(split_patterns(flags.calls), flags.command));
    roof::place_calls(calls, machine, report);
  }
  RoofReports reports;
  reports.add(std::move(report), std::move(measured));
  LOFT_CHECK(write_reports(reports, flags.output, Stream::notes, terminal));
  return reports.runs.front().exit_status;
}

Result<int> run_program_once(const RoofFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto machine, machine_at_hand(flags.machine, terminal));
  const roof::Target target = target_of(flags);
  LOFT_TRY(roof::CountedRun run, roof::run_once(target.command, target.file));
  RoofReports reports;
  reports.add(roof::report_of(std::move(run), machine, wanted_of(flags)), nullptr);
  LOFT_CHECK(write_reports(reports, flags.output, Stream::notes, terminal));
  return reports.runs.front().exit_status;
}

Result<void> add_recording(const std::string& path, const RoofFlags& flags, RoofReports& reports,
                           Terminal& terminal) {
  roof::Wanted wanted = wanted_of(flags);
  // All stand in one drawing, so that the first decides what counts as work.
  if (!reports.runs.empty()) wanted.ops = reports.runs.front().chart.roofline.work;
  LOFT_TRY(auto recording, source::Recording::open(path));
  if (roof::is_counted(*recording)) {
    LOFT_TRY(const auto machine, machine_at_hand(flags.machine, terminal));
    LOFT_TRY(auto counted, roof::read_counted(*recording));
    reports.add(roof::report_of(std::move(counted), machine, wanted), nullptr);
    return {};
  }
  LOFT_TRY(roof::KeptRun kept, roof::read_run(*recording));
  if (!flags.machine.empty()) {
    LOFT_TRY(kept.machine, machine::load(flags.machine));
    kept.machine = roof::roofs_for(roof::bytes_of(kept.counted), std::move(kept.machine));
  }
  auto measured = std::make_unique<roof::Measured>();
  LOFT_TRY(measured->native, roof::profile_of(std::move(kept.native), std::move(recording)));
  measured->counted = std::move(kept.counted);
  measured->kept = std::move(kept.analysis);
  model::RoofReport report = roof::report_of(*measured, kept.machine, wanted);
  reports.add(std::move(report), std::move(measured));
  return {};
}

Result<int> show_recordings(const RoofFlags& flags, Terminal& terminal) {
  RoofReports reports;
  for (const std::string& path : flags.recordings) {
    LOFT_CHECK(add_recording(path, flags, reports, terminal));
    if (flags.recordings.size() > 1)
      reports.runs.back().label = std::filesystem::path(path).stem().string();
  }
  LOFT_CHECK(write_reports(reports, flags.output, Stream::out, terminal));
  return 0;
}

// What a rank did and how long it took; its place under the roofs is shown by the report of the
// job.
Result<int> run_rank(const RoofFlags& flags, Terminal& terminal) {
  const auto run = [&](const std::function<Result<void>(job::RankSummary&)>& measure) {
    return run_as_rank(flags.job, flags.command, terminal, [&](job::RankSummary& summary) {
      summary.pass = flags.pass;
      return measure(summary);
    });
  };
  if (flags.pass == "time")
    return run([&](auto& summary) { return job::measure_time(flags.command, {}, summary); });
  if (flags.pass == "counts") {
    LOFT_TRY(const auto events, roof::virtual_events(roof::work_event_names() + ",flops"));
    return run([&](auto& summary) { return job::measure_work(flags.command, events, summary); });
  }
  if (flags.once)
    return run([&](auto& summary) { return job::measure_both_once(flags.command, summary); });
  LOFT_TRY(const auto counters, choose_counters(flags, terminal));
  if (!counters) return needs_two_runs();
  return run([&](auto& summary) { return job::measure_both(flags.command, *counters, summary); });
}

Result<int> run_roof(RoofFlags flags, Terminal& terminal) {
  LOFT_CHECK(check(flags));
  if (!flags.recordings.empty()) return show_recordings(flags, terminal);
  if (const auto warning = launcher_warning(flags.command, "loft roof --once", false);
      !warning.empty())
    terminal.note("loft: " + warning + "\n");
  if (flags.job.is_given()) return run_rank(flags, terminal);
  flags.output.file = own_output(flags.output.file);
  return flags.once ? run_program_once(flags, terminal) : run_program(flags, terminal);
}

}  // namespace

void add_roof(Command& app, Action& action) {
  auto flags = std::make_shared<RoofFlags>();
  auto command =
      app.add_subcommand("roof", "Show how close a program comes to the machine's roofs");
  add_roof_flags(*command, *flags);
  command->positionals_at_end();
  const std::size_t after = command->words_after_dashes();
  command->callback([flags, after, &action] {
    flags->command = take_after_dashes(flags->recordings, after);
    action = [flags](Terminal& terminal) { return run_roof(*flags, terminal); };
  });
}

}  // namespace loft::cli
