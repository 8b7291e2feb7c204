// loft report: what is in a recording.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <thread>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "sample/report.hpp"
#include "source/file/profile_recording.hpp"
#include "source/file/time_range.hpp"
#include "view/report.hpp"

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
  OutputFlags output;
};

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

Result<sample::ProfileOptions> profile_options(const ReportFlags& flags,
                                               const source::Recording& recording) {
  sample::ProfileOptions options;
  options.by.clear();
  for (const auto& word : flags.by) options.by.push_back(kDimensions.at(word));
  options.inclusive = flags.children;
  options.inlines = flags.inlines;
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

Result<int> run_report(const ReportFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  source::Progress progress;
  const ProgressLine line(terminal, "reading", progress);
  LOFT_TRY(const auto recording,
           source::Recording::open(flags.file.empty() ? default_file() : flags.file, &progress));
  LOFT_TRY(const auto options, profile_options(flags, *recording));
  const unsigned workers =
      flags.threads != 0 ? flags.threads : std::max(1u, std::thread::hardware_concurrency());
  LOFT_TRY(const auto profiled,
           source::profile_recording(*recording, options, flags.symbols, workers, &progress));
  sample::ReportOptions shown;
  shown.by = options.by;
  shown.sort = !flags.sort.empty() ? kSorts.at(flags.sort)
               : flags.children    ? sample::SortBy::inclusive
                                   : sample::SortBy::period;
  const bool on_screen = terminal.out_is_terminal() && flags.output.file.empty();
  shown.top = flags.top != 0 ? flags.top : on_screen && format == Format::text ? 50 : 0;
  const auto report = sample::make_report(recording->summary(), profiled.result,
                                          *profiled.locations, recording->history(), shown);
  const std::string text = format == Format::json ? view::report_json(report)
                           : format == Format::csv
                               ? view::report_csv(report)
                               : view::report_text(report, {on_screen ? terminal.columns() : 0});
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ReportFlags>();
  auto* command = app.add_subcommand("report", "Show what is in a recording");
  command->add_option("file", flags->file,
                      "the recording (default: perf.data, then loft.data; - is standard input)");
  command
      ->add_option("--by", flags->by,
                   "what rows are: function, thread, process, binary, line, cpu, comm; several, "
                   "comma-separated")
      ->delimiter(',')
      ->check(CLI::IsMember(kDimensions))
      ->allow_extra_args(false);
  command->add_option("--sort", flags->sort, "period, samples, inclusive or name")
      ->check(CLI::IsMember(kSorts));
  command->add_option("--top", flags->top, "show so many rows per event");
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
      ->add_option("--threads", flags->threads,
                   "decode with so many threads (default: one per CPU)")
      ->check(CLI::Range(1u, 1024u));
  command->add_option("--symbols", flags->symbols.paths, "look for binaries in these folders first")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--kallsyms", flags->symbols.kallsyms,
                      "name kernel functions from this file");
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_report(*flags, terminal); };
  });
}

}  // namespace loft::cli
