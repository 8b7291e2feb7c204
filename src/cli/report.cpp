// loft report: what is in a recording.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/file.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/report_calls.hpp"
#include "cli/report_flags.hpp"
#include "cli/report_job.hpp"
#include "cli/report_outputs.hpp"
#include "cli/report_regions.hpp"
#include "event/recording_schema.hpp"
#include "job/folder.hpp"
#include "sample/energy_share.hpp"
#include "sample/report.hpp"
#include "source/file/dump.hpp"
#include "source/file/profile_recording.hpp"
#include "view/recording_tables.hpp"
#include "view/records.hpp"
#include "view/report.hpp"

namespace loft::cli {
namespace {

constexpr std::size_t kRowsOnScreen = 50;

// Names and source files are looked up for what will be shown, and for nothing else.
bool shows_rows(const ReportFlags& flags, const OutputForm& form) {
  const bool is_tree = !flags.tree.empty() && (form.name == "text" || form.name == "csv");
  return ((form.needs & kNeedsRows) != 0 && !is_tree) || !flags.csv.empty();
}

sample::ReportOptions shown_rows(const ReportFlags& flags, const sample::ProfileOptions& options,
                                 bool is_cut_for_screen) {
  sample::ReportOptions shown;
  shown.rows = options.rows;
  shown.by = options.by;
  shown.sort = sort_of(flags).value_or(options.inclusive ? sample::SortBy::inclusive
                                                         : sample::SortBy::period);
  shown.top = flags.top != 0 ? flags.top : is_cut_for_screen ? kRowsOnScreen : 0;
  return shown;
}

// --records: every record with every field, in order of time.
Result<int> run_records(const ReportFlags& flags, const source::Recording& recording,
                        std::string_view form, Terminal& terminal) {
  LOFT_TRY(const auto options, profile_options(flags, recording));
  LOFT_TRY(const auto store, source::open_symbols(recording, flags.symbols));
  sample::Locations locations(recording.history(), *store, {});
  const auto make_writer = [&]() -> std::unique_ptr<sample::RecordWriter> {
    if (form == "json") return std::make_unique<view::RecordJson>();
    if (form == "csv") return std::make_unique<view::RecordTable>();
    return std::make_unique<view::RecordLines>();
  };
  const std::string header = form == "csv" ? view::RecordTable::header() : "";
  LOFT_CHECK(stream_result(flags.output, terminal, [&](const PieceWriter& write) {
    write(header);
    source::dump_records(recording, locations, options.filter, workers_of(flags), make_writer,
                         write);
    return Result<void>();
  }));
  return 0;
}

// --csv: readperf's four tables.
Result<int> write_tables(const ReportFlags& flags, const source::Recording& recording,
                         const source::ProfiledRecording& profiled, const sample::Report& report,
                         Terminal& terminal) {
  const auto path = [&](const char* name) { return join_path(flags.csv, name); };
  LOFT_CHECK(replace_file(path("stat.csv"), view::stat_table(recording.summary())));
  LOFT_CHECK(
      replace_file(path("processes.csv"),
                   view::processes_table(recording.history(), profiled.result, report.events)));
  LOFT_CHECK(replace_file(path("results.csv"), view::results_table(report)));
  ReportFlags overview = flags;
  overview.output = path("overview.csv");
  return run_records(overview, recording, "csv", terminal);
}

// Of very many samples an even choice is shown.
void note_choice(const sample::Timeline& timeline, Terminal& terminal) {
  if (timeline.step() != 1)
    terminal.note(
        fmt::format("loft: no viewer opens more than {} samples: 1 of {} is shown, evenly chosen; "
                    "--time, --tid or --event choose a part that is shown whole\n",
                    with_separators(sample::kMostTimeline), timeline.step()));
}

// Samples that are left out have their share, too.
bool can_share_energy(const sample::ProfileOptions& options, const perf_data::Metadata& metadata) {
  return options.filter.lets_all() && options.by == std::vector{sample::Dimension::function} &&
         std::ranges::any_of(metadata.events, [](const auto& event) {
           return event.name.starts_with(event::recording::kMeterPrefix);
         });
}

// Forms for other programs have no place for it.
void note_filters(const OutputForm& form, const sample::Report& report, Terminal& terminal) {
  if (form.name == "text" || form.name == "json" || form.name == "html") return;
  for (const std::uint32_t i : sample::shown_order(report.events))
    if (report.events[i].shown_share < 1)
      terminal.note(fmt::format("loft: {}: {}{}\n", report.events[i].name,
                                view::samples_text(report.events[i].total.samples),
                                view::shown_share_text(report.events[i])));
}

Result<int> run_report(ReportFlags flags, Terminal& terminal) {
  LOFT_TRY(const auto file, take_file(flags));
  if (job::is_job_folder(file)) return report_job(file, flags, terminal);
  const OutputFlags to{flags.format, flags.output};
  LOFT_TRY(const auto* output, choose_output(report_outputs(), to));
  source::Progress progress;
  std::optional<ProgressLine> line(std::in_place, terminal, "reading", progress);
  LOFT_TRY(const auto recording,
           source::Recording::open(file, &progress, {.workers = workers_of(flags)}));
  if (!flags.calls.empty()) {
    line.reset();
    return show_calls(flags, *recording, to, terminal);
  }
  if (flags.regions) {
    line.reset();
    return show_regions(flags, *recording, to, terminal);
  }
  if (flags.tasks.any()) {
    line.reset();
    LOFT_CHECK(check_tasks_are_whole(flags));
    return show_tasks(flags.tasks, *recording, to, terminal);
  }
  if (flags.records) {
    line.reset();
    return run_records(flags, *recording, output->name, terminal);
  }
  LOFT_TRY(auto options, profile_options(flags, *recording));
  options.tree = (output->needs & kNeedsTree) != 0 || !flags.tree.empty();
  options.rows = shows_rows(flags, *output);
  options.timeline = (output->needs & kNeedsTimeline) != 0;
  const bool shares_energy = can_share_energy(options, recording->metadata());
  if (shares_energy) options.tree = options.timeline = true;
  LOFT_TRY(auto profiled, source::profile_recording(*recording, options, flags.symbols,
                                                    workers_of(flags), &progress));
  const bool on_screen = terminal.out_is_terminal() && flags.output.empty();
  auto shown = shown_rows(flags, options, on_screen && output->name == "text");
  if (shares_energy)
    shown.energy_shared_by = sample::share_meters(
        sample::events_of(recording->metadata().events, profiled.result), profiled.result);
  const auto report = sample::make_report(recording->summary(), profiled.result,
                                          *profiled.locations, recording->history(), shown);
  line.reset();
  if (!flags.csv.empty()) return write_tables(flags, *recording, profiled, report, terminal);
  const sample::NamedProfile profile{recording->summary(), profiled.result, *profiled.locations,
                                     recording->history(), report.events};
  if ((output->needs & kShowsAll) != 0) note_choice(profiled.result.timeline, terminal);
  note_filters(*output, report, terminal);
  LOFT_TRY(const auto calls, calls_beside(flags, *recording));
  // Regions are of whole threads: filters cannot choose parts of them.
  sample::RunCounts regions;
  if (options.filter.lets_all()) {
    LOFT_TRY(regions, regions_of(*recording));
  }
  const ShownReport all{flags,
                        *recording,
                        options.filter,
                        report,
                        profile,
                        regions,
                        on_screen ? terminal.columns() : 0,
                        calls ? &*calls : nullptr};
  LOFT_CHECK(write_output(*output, all, to, Stream::out, terminal));
  return 0;
}

}  // namespace

Result<void> write_report(const std::string& recording, const std::string& output,
                          Terminal& terminal) {
  ReportFlags flags;
  flags.words = {recording};
  flags.output = output;
  LOFT_TRY([[maybe_unused]] const int status, run_report(flags, terminal));
  return {};
}

void add_report(Command& app, Action& action) {
  auto flags = std::make_shared<ReportFlags>();
  auto command = app.add_subcommand("report", "Show what is in a recording");
  add_report_flags(*command, *flags);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_report(*flags, terminal); };
  });
}

}  // namespace loft::cli
