// loft compare: recordings of the same program side by side, or joined.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "job/folder.hpp"
#include "job/read_job.hpp"
#include "sample/task_compare.hpp"
#include "sample/task_join.hpp"
#include "source/file/tasks.hpp"
#include "view/compare.hpp"
#include "view/job_compare.hpp"
#include "view/join.hpp"

namespace loft::cli {
namespace {

struct CompareFlags {
  std::vector<std::string> recordings;
  bool join = false;
  OutputFlags output;
};

const std::vector<Output<sample::TaskComparison>> kOutputs{
    {{"text", {".txt"}}, whole<view::compare_text>},
    {{"json", {".json"}}, whole<view::compare_json>},
    {{"csv", {".csv"}}, whole<view::compare_csv>},
    {{"svg", {".svg"}}, whole<view::compare_svg>}};
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
  LOFT_TRY(const auto tables, read_all(flags.recordings));
  const auto comparison = sample::compare_tasks(tables[0], tables[1]);
  LOFT_CHECK(write_output(*output, comparison, flags.output, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_compare(Command& app, Action& action) {
  auto flags = std::make_shared<CompareFlags>();
  auto command = app.add_subcommand("compare", "Show two recordings of a program side by side");
  command
      ->add_option(
          "recordings", flags->recordings,
          "the recording, or the folder of a job, to compare with, then the one that may be "
          "slower")
      ->required();
  command->add_flag("--join", flags->join,
                    "join runs with different events, interval by interval; any number of them");
  add_output_flags(*command, flags->output, forms_of(kOutputs));
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_compare(*flags, terminal); };
  });
}

}  // namespace loft::cli
