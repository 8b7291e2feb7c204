// loft report: what is in a recording.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <thread>

#include "base/cpu_set.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/report_form.hpp"
#include "cli/report_page.hpp"
#include "cli/report_tasks.hpp"
#include "cli/stream_result.hpp"
#include "format/perf/attr.hpp"
#include "sample/report.hpp"
#include "source/file/dump.hpp"
#include "source/file/profile_recording.hpp"
#include "source/file/time_range.hpp"
#include "view/recording_tables.hpp"
#include "view/records.hpp"
#include "view/report.hpp"
#include "view/stacks.hpp"

namespace loft::cli {
namespace {

struct ReportFlags {
  std::string file;
  std::vector<std::string> by = {"function"};
  std::string sort;
  std::vector<std::string> comms, binaries, events;
  std::vector<std::uint32_t> pids, tids;
  std::string cpus;
  std::string time;
  std::size_t top = 0;
  bool children = false;
  bool inlines = false;
  unsigned threads = 0;
  source::SymbolSearch symbols;
  std::string tree;  // "caller" or "callee" when asked for
  double least_share = 0.5;
  bool records = false;
  TaskViewFlags tasks;
  std::string csv;  // a folder
  std::string format;
  std::string output;
};

constexpr std::size_t kRowsOnScreen = 50;

const std::map<std::string, sample::Dimension> kDimensions = {
    {"function", sample::Dimension::function}, {"thread", sample::Dimension::thread},
    {"process", sample::Dimension::process},   {"binary", sample::Dimension::binary},
    {"line", sample::Dimension::line},         {"cpu", sample::Dimension::cpu},
    {"comm", sample::Dimension::comm}};
const std::map<std::string, sample::SortBy> kSorts = {{"period", sample::SortBy::period},
                                                      {"samples", sample::SortBy::samples},
                                                      {"inclusive", sample::SortBy::inclusive},
                                                      {"name", sample::SortBy::name}};

std::string default_file() {
  for (const char* name : {"perf.data", "loft.data"})
    if (file_exists(name)) return name;
  return "perf.data";
}

Result<std::set<std::uint32_t>> find_events(const ReportFlags& flags,
                                            const perf_data::Metadata& metadata) {
  std::set<std::uint32_t> chosen;
  std::vector<std::string> names;
  for (const auto& event : metadata.events) names.push_back(event.name);
  for (const auto& wanted : flags.events) {
    const std::size_t before = chosen.size();
    for (std::uint32_t i = 0; i < names.size(); ++i)
      if (names[i] == wanted || names[i].substr(0, names[i].rfind(':')) == wanted) chosen.insert(i);
    if (chosen.size() == before)
      return failure(ErrorKind::not_found, "show event '" + wanted + "'",
                     "the recording does not have it", "it has: " + join(names, ", "));
  }
  return chosen;
}

Result<void> check_cpus_are_known(const ReportFlags& flags, const perf_data::Metadata& metadata) {
  for (const auto& event : metadata.events)
    if ((event.attr.sample_type & format::perf::kCpu) != 0) return {};
  return failure(ErrorKind::not_found, "show CPU " + flags.cpus,
                 "the recording does not say on which CPU its samples were taken",
                 "record with 'loft record', or 'perf record --sample-cpu'");
}

Result<sample::ProfileOptions> profile_options(const ReportFlags& flags,
                                               const source::Recording& recording) {
  sample::ProfileOptions options;
  options.by.clear();
  for (const auto& word : flags.by) options.by.push_back(kDimensions.at(word));
  options.inclusive = flags.children || flags.sort == "inclusive";
  options.inlines = flags.inlines;
  options.arch = recording.metadata().arch;
  if (options.inclusive && options.by.back() != sample::Dimension::function)
    return failure(ErrorKind::invalid_input, "show what functions called",
                   "--children needs function as the last of --by");
  auto& filter = options.filter;
  LOFT_TRY(filter.events, find_events(flags, recording.metadata()));
  filter.pids.insert(flags.pids.begin(), flags.pids.end());
  filter.tids.insert(flags.tids.begin(), flags.tids.end());
  if (!flags.cpus.empty()) {
    LOFT_TRY(const auto cpus, parse_cpu_list(flags.cpus));
    for (const int cpu : cpus) filter.cpus.insert(static_cast<std::uint32_t>(cpu));
    LOFT_CHECK(check_cpus_are_known(flags, recording.metadata()));
  }
  filter.comms = flags.comms;
  filter.binaries = flags.binaries;
  if (!flags.time.empty()) {
    LOFT_TRY(const auto range, source::parse_time_range(flags.time, recording.time_range()));
    filter.from = range.first;
    filter.until = range.second;
  }
  return options;
}

unsigned workers_of(const ReportFlags& flags) {
  return flags.threads != 0 ? flags.threads : std::max(1u, std::thread::hardware_concurrency());
}

// Names and source files are looked up for what will be shown, and for nothing else.
bool shows_rows(const ReportFlags& flags, ReportForm form) {
  const bool is_table = form == ReportForm::json || form == ReportForm::csv ||
                        form == ReportForm::html ||
                        (form == ReportForm::text && flags.tree.empty());
  return is_table || !flags.csv.empty();
}

sample::ReportOptions shown_rows(const ReportFlags& flags, const sample::ProfileOptions& options,
                                 ReportForm form, bool is_cut_for_screen) {
  sample::ReportOptions shown;
  shown.rows = shows_rows(flags, form);
  shown.by = options.by;
  shown.sort = !flags.sort.empty() ? kSorts.at(flags.sort)
               : options.inclusive ? sample::SortBy::inclusive
                                   : sample::SortBy::period;
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
  bool period_is_known = true;
  for (const auto& event : report.events) period_is_known &= event.period_is_known;
  LOFT_CHECK(
      replace_file(path("processes.csv"),
                   view::processes_table(recording.history(), profiled.result, period_is_known)));
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
  switch (form) {
    case ReportForm::json:
      return view::report_json(report);
    case ReportForm::csv:
      return view::report_csv(report);
    case ReportForm::folded:
      return view::folded_stacks(profile);
    case ReportForm::svg:
      return view::flame_graph(
          profile, sample::make_call_tree(profile.result.tree, profile.locations, order));
    case ReportForm::html:
      return view::page_html(report_page(page.recording, report, profile, order, page.filter));
    case ReportForm::pprof:
      return view::pprof_profile(profile);
    default:
      break;  // text; what is over time is written by write_over_time()
  }
  if (flags.tree.empty()) return view::report_text(report, {columns});
  return view::recording_text(report) +
         view::tree_text(profile,
                         sample::make_call_tree(profile.result.tree, profile.locations, order),
                         flags.least_share / 100);
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

Result<int> run_report(const ReportFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto form, choose_report_form(flags.format, flags.output));
  source::Progress progress;
  std::optional<ProgressLine> line(std::in_place, terminal, "reading", progress);
  LOFT_TRY(const auto recording,
           source::Recording::open(flags.file.empty() ? default_file() : flags.file, &progress));
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

template <class T>
std::vector<std::string> words_of(const std::map<std::string, T>& meanings) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : meanings) words.push_back(word);
  return words;
}

}  // namespace

Result<void> write_report(const std::string& recording, const std::string& output,
                          Terminal& terminal) {
  ReportFlags flags;
  flags.file = recording;
  flags.output = output;
  LOFT_TRY([[maybe_unused]] const int status, run_report(flags, terminal));
  return {};
}

void add_report(Command& app, Action& action) {
  auto flags = std::make_shared<ReportFlags>();
  auto command = app.add_subcommand("report", "Show what is in a recording");
  command->add_option("file", flags->file,
                      "the recording (default: perf.data, then loft.data; - is standard input)");
  command
      ->add_option("--by", flags->by,
                   "what rows are: function, thread, process, binary, line, cpu, comm; several, "
                   "comma-separated")
      ->delimiter(',')
      ->check(one_of(words_of(kDimensions)))
      ->allow_extra_args(false);
  command->add_option("--sort", flags->sort, "period, samples, inclusive or name")
      ->check(one_of(words_of(kSorts)));
  command->add_option("--top", flags->top, "show so many rows per event")
      ->check(between(1, 1'000'000'000));
  command->add_option("--comm", flags->comms, "only threads of these names (patterns)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--pid", flags->pids, "only these processes")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--tid", flags->tids, "only these threads")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--cpu", flags->cpus, "only these CPUs (0-3,8)");
  command->add_option("--dso", flags->binaries, "only code of these binaries (patterns)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--event", flags->events, "only these events")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--time", flags->time,
                      "only from FROM to TO: seconds since the start, or the recording's clock");
  command->add_flag("--children", flags->children,
                    "count for each function what it called as well");
  command->add_flag("--inline", flags->inlines,
                    "show functions that were compiled into their callers");
  command
      ->add_option("-j,--jobs", flags->threads,
                   "decode with so many threads (default: one per CPU)")
      ->check(between(1u, 1024u));
  command->add_option("--symbols", flags->symbols.paths, "look for binaries in these folders first")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--kallsyms", flags->symbols.kallsyms,
                      "name kernel functions from this file");
  command
      ->add_flag("--tree{caller}", flags->tree, "show the call tree; --tree=callee turns it around")
      ->check(one_of({"caller", "callee"}));
  command
      ->add_option("--least", flags->least_share,
                   "leave branches below so many percent out of the tree")
      ->check(between(0.0, 100.0));
  add_task_view_flags(*command, flags->tasks);
  command->add_flag("--records", flags->records, "show every record with every field");
  command->add_option("--csv", flags->csv,
                      "write stat, overview, processes and results.csv into this folder");
  std::set<std::string> forms;
  for (const auto& form : report_forms()) forms.emplace(form.name);
  command
      ->add_option("--format", flags->format, "the form of the result (default: by -o, else text)")
      ->check(one_of({forms.begin(), forms.end()}));
  command->add_option("-o,--output", flags->output,
                      "write to this file; its ending picks the form: .txt, .json, .csv, .folded, "
                      ".svg, .html, .pb.gz, .speedscope.json, .firefox.json, .pftrace");
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_report(*flags, terminal); };
  });
}

}  // namespace loft::cli
