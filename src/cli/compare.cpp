// loft compare: recordings, rooflines or counts of the same program side by side, or joined.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "job/folder.hpp"
#include "job/read_job.hpp"
#include "metric/compare_counts.hpp"
#include "roof/compare_work.hpp"
#include "roof/run_file.hpp"
#include "sample/task_compare.hpp"
#include "sample/task_join.hpp"
#include "source/file/count_recording.hpp"
#include "source/file/loft_facts.hpp"
#include "source/file/profile_recording.hpp"
#include "source/file/tasks.hpp"
#include "view/compare.hpp"
#include "view/comparison.hpp"
#include "view/job_compare.hpp"
#include "view/join.hpp"

namespace loft::cli {
namespace {

struct CompareFlags {
  std::vector<std::string> recordings;
  bool join = false;
  std::string by;  // "function" or "thread"; empty: both, where the form has room for them
  OutputFlags output;
};

constexpr unsigned kNeedsTree = 1;  // call stacks of both

std::string text(const view::ComparedRuns& runs) {
  std::string out = runs.comparison.tables.empty() && runs.tasks
                        ? std::string()
                        : view::comparison_text(runs.comparison);
  if (runs.tasks) out += (out.empty() ? "" : "\n") + view::compare_text(*runs.tasks);
  return out;
}

std::string csv(const view::ComparedRuns& runs) {
  return runs.tasks ? view::compare_csv(*runs.tasks) : view::comparison_csv(runs.comparison);
}

std::string json(const view::ComparedRuns& runs) {
  sample::TaskComparison tasks;
  tasks.before_path = runs.comparison.before_path;
  tasks.after_path = runs.comparison.after_path;
  return fmt::format("{},\"tables\":{}}}\n",
                     view::open_compare_json(runs.tasks ? *runs.tasks : tasks),
                     view::comparison_json(runs.comparison));
}

Result<std::string> svg(const view::ComparedRuns& runs) {
  if (runs.tasks) return view::compare_svg(*runs.tasks);
  return failure(ErrorKind::unsupported, "draw the phases of threads",
                 "these runs do not tell when threads ran",
                 "compare recordings of loft record; x.html shows functions");
}

Result<std::string> html(const view::ComparedRuns& runs) {
  return view::page_html(view::comparison_page(runs));
}

const std::vector<Output<view::ComparedRuns>> kOutputs{
    {{"text", {".txt"}}, whole<text>},
    {{"json", {".json"}}, whole<json>},
    {{"csv", {".csv"}}, whole<csv>},
    {{"svg", {".svg"}}, whole<svg>},
    {{"html", {".html"}, kNeedsTree}, whole<html>}};
const std::vector<Output<sample::TaskJoin>> kJoinOutputs{
    {{"text", {".txt"}}, whole<view::join_text>},
    {{"json", {".json"}}, whole<view::join_json>},
    {{"csv", {".csv"}}, whole<view::join_csv>}};

const std::vector<Output<model::JobComparison>> kJobOutputs{
    {{"text", {".txt"}}, whole<view::job_compare_text>},
    {{"json", {".json"}}, whole<view::job_compare_json>},
    {{"csv", {".csv"}}, whole<view::job_compare_csv>}};

Result<std::vector<sample::TaskTable>> read_all(const std::vector<std::string>& files) {
  std::vector<sample::TaskTable> tables;
  for (const std::string& file : files) {
    LOFT_TRY(const auto recording, source::Recording::open(file));
    tables.push_back(source::read_tasks(*recording));
  }
  return tables;
}

Result<int> run_join(const CompareFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto* output, choose_output(kJoinOutputs, flags.output));
  LOFT_TRY(const auto tables, read_all(flags.recordings));
  LOFT_CHECK(
      write_output(*output, sample::join_tasks(tables), flags.output, Stream::out, terminal));
  return 0;
}

// The last steps of two folders.
Result<int> compare_jobs(const CompareFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto* output, choose_output(kJobOutputs, flags.output));
  LOFT_TRY(auto before, job::read_job(flags.recordings[0], {}));
  LOFT_TRY(auto after, job::read_job(flags.recordings[1], {}));
  const auto comparison = model::compare_jobs(std::move(before), std::move(after));
  LOFT_CHECK(write_output(*output, comparison, flags.output, Stream::out, terminal));
  return 0;
}

// A recording with all its functions.
struct Profiled {
  std::unique_ptr<source::Recording> recording;
  source::ProfiledRecording profiled;
  sample::Report report;

  [[nodiscard]] sample::NamedProfile named() const {
    return {recording->summary(), profiled.result, *profiled.locations, recording->history(),
            report.events};
  }
};

Result<Profiled> profile(const std::string& path, bool needs_tree, Terminal& terminal) {
  source::Progress progress;
  const ProgressLine line(terminal, "reading", progress);
  Profiled all;
  LOFT_TRY(all.recording, source::Recording::open(path, &progress));
  sample::ProfileOptions options;
  options.by = {sample::Dimension::function};
  options.rows = true;
  options.tree = needs_tree;
  LOFT_TRY(all.profiled,
           source::profile_recording(*all.recording, options, {},
                                     std::max(1u, std::thread::hardware_concurrency()), &progress));
  all.report =
      sample::make_report(all.recording->summary(), all.profiled.result, *all.profiled.locations,
                          all.recording->history(), {.by = options.by, .source_files = false});
  return all;
}

bool is_exact(const Profiled& profiled) {
  return source::recorder_of(profiled.recording->metadata()) == "virtual";
}

// Operations and bytes, where both are recordings of loft roof.
void add_work(const Profiled& before, const Profiled& after, sample::Comparison& comparison) {
  const auto a = roof::read_run(*before.recording);
  const auto b = roof::read_run(*after.recording);
  if (!a || !b) return;
  for (auto& table : roof::compare_work(a->counted, b->counted))
    comparison.tables.push_back(std::move(table));
}

Result<view::ComparedRuns> compare_recordings(const CompareFlags& flags, bool needs_tree,
                                              Terminal& terminal) {
  view::ComparedRuns runs;
  if (flags.by != "function") {
    LOFT_TRY(const auto tables, read_all(flags.recordings));
    auto tasks = sample::compare_tasks(tables[0], tables[1]);
    if (!tasks.tasks.empty() || flags.by == "thread") runs.tasks = std::move(tasks);
  }
  if (flags.by == "thread") return runs;
  LOFT_TRY(const Profiled before, profile(flags.recordings[0], needs_tree, terminal));
  LOFT_TRY(const Profiled after, profile(flags.recordings[1], needs_tree, terminal));
  runs.comparison =
      sample::compare_reports({before.report, is_exact(before)}, {after.report, is_exact(after)});
  add_work(before, after, runs.comparison);
  if (needs_tree) runs.flames = view::differential_flames(before.named(), after.named());
  return runs;
}

Result<view::ComparedRuns> compare_counts(const CompareFlags& flags) {
  view::ComparedRuns runs;
  runs.comparison.before_path = flags.recordings[0];
  runs.comparison.after_path = flags.recordings[1];
  const auto read = [](const std::string& path) -> Result<metric::CountedRun> {
    LOFT_TRY(const std::string text, read_file(path, std::size_t{1} << 30));
    return metric::read_counted_run(path, text);
  };
  LOFT_TRY(const auto before, read(flags.recordings[0]));
  LOFT_TRY(const auto after, read(flags.recordings[1]));
  metric::add_counts(before, after, runs.comparison);
  return runs;
}

Result<view::ComparedRuns> compare(const CompareFlags& flags, bool needs_tree, Terminal& terminal) {
  std::size_t recordings = 0;
  for (const std::string& path : flags.recordings) {
    LOFT_TRY(const bool is_recording, source::is_recording(path));
    if (is_recording) ++recordings;
  }
  if (recordings == 0) return compare_counts(flags);
  if (recordings == 2) return compare_recordings(flags, needs_tree, terminal);
  return failure(ErrorKind::invalid_input, "compare two runs",
                 "one is a recording, the other a text of counts", "give two of a kind");
}

Result<int> run_compare(const CompareFlags& flags, Terminal& terminal) {
  if (flags.join && flags.recordings.size() >= 2) return run_join(flags, terminal);
  if (flags.recordings.size() != 2)
    return failure(ErrorKind::invalid_input, "compare recordings",
                   fmt::format("{} given", flags.recordings.size()),
                   flags.join ? "give two or more of them"
                              : "give two of them; --join takes more, with other events each");
  if (!flags.join && std::ranges::all_of(flags.recordings, job::is_job_folder))
    return compare_jobs(flags, terminal);
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  LOFT_TRY(const auto runs, compare(flags, (output->needs & kNeedsTree) != 0, terminal));
  LOFT_CHECK(write_output(*output, runs, flags.output, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_compare(Command& app, Action& action) {
  auto flags = std::make_shared<CompareFlags>();
  auto command = app.add_subcommand("compare", "Show what changed between two runs of a program");
  command
      ->add_option(
          "recordings", flags->recordings,
          "the recording, the counts (JSON or CSV), or the folder of a job to compare with, then "
          "the one that may be slower")
      ->required();
  command->add_option("--by", flags->by, "compare only functions, or only threads")
      ->check(one_of({"function", "thread"}));
  command->add_flag("--join", flags->join,
                    "join runs with different events, interval by interval; any number of them");
  add_output_flags(*command, flags->output, forms_of(kOutputs));
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_compare(*flags, terminal); };
  });
}

}  // namespace loft::cli
