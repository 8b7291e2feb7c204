// loft report: what is in a recording.
#include <fmt/format.h>

#include <memory>

#include "base/file.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/report_flags.hpp"
#include "cli/report_form.hpp"
#include "cli/report_page.hpp"
#include "cli/stream_result.hpp"
#include "sample/report.hpp"
#include "source/file/dump.hpp"
#include "source/file/profile_recording.hpp"
#include "view/recording_tables.hpp"
#include "view/records.hpp"
#include "view/report.hpp"
#include "view/stacks.hpp"

namespace loft::cli {
namespace {

constexpr std::size_t kRowsOnScreen = 50;

// Names and source files are looked up for what will be shown, and for nothing else.
bool shows_rows(const ReportFlags& flags, ReportForm form) {
  const bool is_table =
      form == ReportForm::json || form == ReportForm::html ||
      ((form == ReportForm::csv || form == ReportForm::text) && flags.tree.empty());
  return is_table || !flags.csv.empty();
}

sample::ReportOptions shown_rows(const ReportFlags& flags, const sample::ProfileOptions& options,
                                 ReportForm form, bool is_cut_for_screen) {
  sample::ReportOptions shown;
  shown.rows = shows_rows(flags, form);
  shown.by = options.by;
  shown.sort = sort_of(flags).value_or(options.inclusive ? sample::SortBy::inclusive
                                                         : sample::SortBy::period);
  shown.top = flags.top != 0 ? flags.top : is_cut_for_screen ? kRowsOnScreen : 0;
  return shown;
}

// --records: every record with every field, in order of time.
Result<int> run_records(const ReportFlags& flags, const source::Recording& recording,
                        ReportForm form, Terminal& terminal) {
  LOFT_TRY(const auto options, profile_options(flags, recording));
  LOFT_TRY(const auto store, source::open_symbols(recording, flags.symbols));
  sample::Locations locations(recording.history(), *store, {});
  const auto make_writer = [&]() -> std::unique_ptr<sample::RecordWriter> {
    if (form == ReportForm::json) return std::make_unique<view::RecordJson>();
    if (form == ReportForm::csv) return std::make_unique<view::RecordTable>();
    return std::make_unique<view::RecordLines>();
  };
  const std::string header = form == ReportForm::csv ? view::RecordTable::header() : "";
  LOFT_CHECK(stream_result(flags.output, terminal, [&](const PieceWriter& write) {
    write(header);
    source::dump_records(recording, locations, options.filter, workers_of(flags), make_writer,
                         write);
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
  return run_records(overview, recording, ReportForm::csv, terminal);
}

// What a page shows beside the profile.
struct PageSource {
  const source::Recording& recording;
  const sample::ProfileFilter& filter;
};

Result<std::string> render(const ReportFlags& flags, ReportForm form, const sample::Report& report,
                           const sample::NamedProfile& profile, const PageSource& page,
                           int columns) {
  const auto order =
      flags.tree == "callee" ? sample::TreeOrder::from_callees : sample::TreeOrder::from_callers;
  const auto tree = [&] {
    return sample::make_call_tree(profile.result.tree, profile.locations, order);
  };
  const double least = flags.least_share / 100;
  switch (form) {
    case ReportForm::json:
      return flags.tree.empty() ? view::report_json(report)
                                : view::report_json(report, {profile, tree(), least});
    case ReportForm::csv:
      return flags.tree.empty() ? view::report_csv(report)
                                : view::tree_csv({profile, tree(), least});
    case ReportForm::folded:
      return view::folded_stacks(profile);
    case ReportForm::svg:
      return view::flame_graph(profile, tree());
    case ReportForm::html:
      return view::page_html(report_page(page.recording, report, profile, order, page.filter));
    case ReportForm::pprof:
      return view::pprof_profile(profile);
    default:
      break;  // text; what is over time is written by write_over_time()
  }
  if (flags.tree.empty()) return view::report_text(report, {columns});
  return view::recording_text(report) + view::tree_text({profile, tree(), least});
}

bool is_over_time(ReportForm form) {
  return form == ReportForm::speedscope || form == ReportForm::firefox ||
         form == ReportForm::perfetto;
}

// Views that show each sample by itself. Of very many, an even choice is shown.
Result<int> write_over_time(const ReportFlags& flags, ReportForm form,
                            const sample::NamedProfile& profile, Terminal& terminal) {
  if (const auto step = profile.result.timeline.step(); step != 1)
    terminal.note(
        fmt::format("loft: no viewer opens more than {} samples: 1 of {} is shown, evenly chosen; "
                    "--time, --tid or --event choose a part that is shown whole\n",
                    with_separators(sample::kMostTimeline), step));
  LOFT_CHECK(stream_result(flags.output, terminal, [&](const PieceWriter& write) {
    if (form == ReportForm::speedscope) view::speedscope_json(profile, write);
    if (form == ReportForm::firefox) view::firefox_json(profile, write);
    if (form == ReportForm::perfetto) view::perfetto_trace(profile, write);
  }));
  return 0;
}

Result<int> run_report(ReportFlags flags, Terminal& terminal) {
  LOFT_TRY(const auto file, take_file(flags));
  LOFT_TRY(const auto form, choose_report_form(flags.format, flags.output));
  source::Progress progress;
  std::optional<ProgressLine> line(std::in_place, terminal, "reading", progress);
  LOFT_TRY(const auto recording,
           source::Recording::open(file, &progress, {.workers = workers_of(flags)}));
  if (flags.tasks.any()) {
    line.reset();
    return show_tasks(flags.tasks, *recording, {flags.format, flags.output}, terminal);
  }
  if (flags.records) {
    line.reset();
    return run_records(flags, *recording, form.form, terminal);
  }
  LOFT_TRY(auto options, profile_options(flags, *recording));
  options.tree = form.needs_tree || !flags.tree.empty();
  options.rows = shows_rows(flags, form.form);
  options.timeline = form.needs_timeline;
  LOFT_TRY(const auto profiled, source::profile_recording(*recording, options, flags.symbols,
                                                          workers_of(flags), &progress));
  const bool on_screen = terminal.out_is_terminal() && flags.output.empty();
  const auto shown =
      shown_rows(flags, options, form.form, on_screen && form.form == ReportForm::text);
  const auto report = sample::make_report(recording->summary(), profiled.result,
                                          *profiled.locations, recording->history(), shown);
  line.reset();
  if (!flags.csv.empty()) return write_tables(flags, *recording, profiled, report, terminal);
  const sample::NamedProfile profile{recording->summary(), profiled.result, *profiled.locations,
                                     recording->history(), report.events};
  if (is_over_time(form.form)) return write_over_time(flags, form.form, profile, terminal);
  LOFT_TRY(const auto text, render(flags, form.form, report, profile, {*recording, options.filter},
                                   on_screen ? terminal.columns() : 0));
  LOFT_CHECK(write_result({flags.format, flags.output}, text, Stream::out, terminal));
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
