// loft compare: two recordings of the same program side by side.
#include <memory>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "sample/task_compare.hpp"
#include "source/file/tasks.hpp"
#include "view/compare.hpp"

namespace loft::cli {
namespace {

struct CompareFlags {
  std::string before;
  std::string after;
  OutputFlags output;
};

const std::vector<Output<sample::TaskComparison>> kOutputs{
    {{"text", {".txt"}}, whole<view::compare_text>},
    {{"json", {".json"}}, whole<view::compare_json>},
    {{"csv", {".csv"}}, whole<view::compare_csv>},
    {{"svg", {".svg"}}, whole<view::compare_svg>}};

Result<int> run_compare(const CompareFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  LOFT_TRY(const auto before, source::Recording::open(flags.before));
  LOFT_TRY(const auto after, source::Recording::open(flags.after));
  const auto comparison =
      sample::compare_tasks(source::read_tasks(*before), source::read_tasks(*after));
  LOFT_CHECK(write_output(*output, comparison, flags.output, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_compare(Command& app, Action& action) {
  auto flags = std::make_shared<CompareFlags>();
  auto command = app.add_subcommand("compare", "Show two recordings of a program side by side");
  command->add_option("before", flags->before, "the recording to compare with")->required();
  command->add_option("after", flags->after, "the recording that may be slower")->required();
  add_output_flags(*command, flags->output, forms_of(kOutputs));
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_compare(*flags, terminal); };
  });
}

}  // namespace loft::cli
