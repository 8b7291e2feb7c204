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

Result<std::string> render(const sample::TaskComparison& comparison, const OutputFlags& output) {
  if (output.format.empty() && output.file.ends_with(".svg")) return view::compare_svg(comparison);
  LOFT_TRY(const Format format, choose_format(output));
  return format == Format::json  ? view::compare_json(comparison)
         : format == Format::csv ? view::compare_csv(comparison)
                                 : view::compare_text(comparison);
}

Result<int> run_compare(const CompareFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto before, source::Recording::open(flags.before));
  LOFT_TRY(const auto after, source::Recording::open(flags.after));
  const auto comparison =
      sample::compare_tasks(source::read_tasks(*before), source::read_tasks(*after));
  LOFT_TRY(const auto text, render(comparison, flags.output));
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_compare(Command& app, Action& action) {
  auto flags = std::make_shared<CompareFlags>();
  auto command = app.add_subcommand("compare", "Show two recordings of a program side by side");
  command->add_option("before", flags->before, "the recording to compare with")->required();
  command->add_option("after", flags->after, "the recording that may be slower")->required();
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_compare(*flags, terminal); };
  });
}

}  // namespace loft::cli
