#include "cli/report_flags.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "base/cpu_set.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/report_job.hpp"
#include "cli/report_outputs.hpp"
#include "format/perf/attr.hpp"
#include "source/file/time_range.hpp"

namespace loft::cli {
namespace {

const std::map<std::string, sample::Dimension> kDimensions = {
    {"function", sample::Dimension::function}, {"thread", sample::Dimension::thread},
    {"process", sample::Dimension::process},   {"binary", sample::Dimension::binary},
    {"line", sample::Dimension::line},         {"cpu", sample::Dimension::cpu},
    {"comm", sample::Dimension::comm}};
const std::map<std::string, sample::SortBy> kSorts = {{"period", sample::SortBy::period},
                                                      {"samples", sample::SortBy::samples},
                                                      {"inclusive", sample::SortBy::inclusive},
                                                      {"name", sample::SortBy::name}};
const std::vector<std::string> kTreeOrders = {"caller", "callee"};

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

template <class T>
std::vector<std::string> words_of(const std::map<std::string, T>& meanings) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : meanings) words.push_back(word);
  return words;
}

bool is_tree_order(const std::string& word) {
  return std::find(kTreeOrders.begin(), kTreeOrders.end(), word) != kTreeOrders.end();
}

}  // namespace

Result<std::string> take_file(ReportFlags& flags) {
  auto& words = flags.words;
  if (!flags.input.empty()) words.insert(words.begin(), flags.input);
  const auto order = std::find_if(words.begin(), words.end(), is_tree_order);
  if (!flags.tree.empty() && order != words.end() && (words.size() > 1 || !file_exists(*order))) {
    flags.tree = *order;
    words.erase(order);
  }
  if (words.size() > 1)
    return failure(ErrorKind::invalid_input, "read '" + words[1] + "'",
                   "only one recording can be shown, and '" + words[0] + "' is named as well",
                   "compare two with 'loft compare'");
  return words.empty() ? default_file() : words[0];
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
  filter.symbols = flags.symbol_names;
  if (!flags.time.empty()) {
    LOFT_TRY(const auto range, source::parse_time_range(flags.time, recording.time_range()));
    filter.from = range.first;
    filter.until = range.second;
  }
  return options;
}

Result<void> check_tasks_are_whole(const ReportFlags& flags) {
  const std::vector<std::pair<const char*, bool>> filters = {
      {"--comm", !flags.comms.empty()},   {"--pid", !flags.pids.empty()},
      {"--tid", !flags.tids.empty()},     {"--cpu", !flags.cpus.empty()},
      {"--dso", !flags.binaries.empty()}, {"--symbol", !flags.symbol_names.empty()},
      {"--event", !flags.events.empty()}, {"--time", !flags.time.empty()}};
  for (const auto& [name, is_given] : filters)
    if (is_given)
      return failure(
          ErrorKind::invalid_input, std::string("filter tasks with ") + name,
          "--tasks, --schedule, --interval and --wakeups show every task of the recording",
          "leave out the filter, or choose rows of the JSON or CSV form");
  return {};
}

std::optional<sample::SortBy> sort_of(const ReportFlags& flags) {
  return flags.sort.empty() ? std::nullopt : std::optional(kSorts.at(flags.sort));
}

unsigned workers_of(const ReportFlags& flags) {
  return flags.threads != 0 ? flags.threads : std::max(1u, std::thread::hardware_concurrency());
}

void add_report_flags(Command& command, ReportFlags& flags) {
  command.add_option("file", flags.words,
                     "the recording (default: perf.data, then loft.data; - is standard input), or "
                     "the folder of a job");
  command.add_option("-i,--input", flags.input, "the recording, as perf's commands take it");
  command
      .add_option("--by", flags.by,
                  "what rows are: function, thread, process, binary, line, cpu, comm; several, "
                  "comma-separated")
      ->delimiter(',')
      ->check(one_of(words_of(kDimensions)))
      ->allow_extra_args(false);
  command.add_option("--sort", flags.sort, "period, samples, inclusive or name")
      ->check(one_of(words_of(kSorts)));
  command.add_option("--top", flags.top, "show so many rows per event")
      ->check(between(1, 1'000'000'000));
  command.add_option("--comm", flags.comms, "only threads of these names (patterns)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--pid", flags.pids, "only these processes")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--tid", flags.tids, "only these threads")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--cpu", flags.cpus, "only these CPUs (0-3,8)");
  command.add_option("--dso", flags.binaries, "only code of these binaries (patterns)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--symbol", flags.symbol_names, "only samples in these functions (patterns)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--event", flags.events, "only these events")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--time", flags.time,
                     "only from FROM to TO: seconds since the start, or the recording's clock");
  command.add_flag("--children", flags.children, "count for each function what it called as well");
  command.add_flag("--inline", flags.inlines,
                   "show functions that were compiled into their callers");
  command
      .add_option("-j,--jobs", flags.threads, "decode with so many threads (default: one per CPU)")
      ->check(between(1u, 1024u));
  command.add_option("--symbols", flags.symbols.paths, "look for binaries in these folders first")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--kallsyms", flags.symbols.kallsyms, "name kernel functions from this file");
  command
      .add_flag("--tree{caller}", flags.tree, "show the call tree; --tree=callee turns it around")
      ->check(one_of(kTreeOrders));
  command
      .add_option("--least", flags.least_share,
                  "leave branches below so many percent out of the tree")
      ->check(between(0.0, 100.0));
  add_task_view_flags(command, flags.tasks);
  command
      .add_flag("--calls{all}", flags.calls,
                "calls of functions, by loft call or record --calls: all tables, or "
                "--calls=functions, slowest, tree, list")
      ->check(one_of({"all", "functions", "slowest", "tree", "list"}));
  command.add_flag("--regions", flags.regions, "regions that the program marked (loft/region.h)");
  command.add_flag("--records", flags.records, "show every record with every field");
  command.add_option("--csv", flags.csv,
                     "write stat, overview, processes and results.csv into this folder");
  command
      .add_option("--step", flags.step, "of a job: this run into its folder (default: the last)")
      ->check(between(1, 1'000'000'000));
  command.add_option(
      "--machine", flags.machine,
      "of a job: the machine file with the roofs of its ranks (default: this one's)");
  std::vector<OutputForm> forms = forms_of(report_outputs());
  std::ranges::move(job_forms(), std::back_inserter(forms));
  command
      .add_option("--format", flags.format, "the form of the result (default: by -o, else text)")
      ->check(one_of(names_of(forms)));
  command.add_option("-o,--output", flags.output,
                     "write to this file; its ending picks the form: " + endings_of(forms));
}

}  // namespace loft::cli
