// loft annotate: the code of a function, with what each line and instruction did and waited for.
#include "roof/annotate.hpp"
#include "cli/command.hpp"
#include "cli/machine_at_hand.hpp"
#include "cli/output.hpp"
#include "roof/measure.hpp"
#include "roof/report.hpp"
#include "view/annotate.hpp"

namespace loft::cli {
namespace {

struct AnnotateFlags {
  std::vector<std::string> functions;  // what stands before "--"
  std::vector<std::string> command;    // what stands after it
  std::string machine;
  std::size_t top = 1;
  bool all = false;
  bool keep_going = false;
  OutputFlags output;
};

struct Shown {
  model::Annotation annotation;
  bool all = false;
};

template <auto Make>
Result<void> whole(const Shown& shown, const PieceWriter& write) {
  const Result<std::string> made = Make(shown);
  if (!made) return tl::make_unexpected(made.error());
  (void)write(*made);  // whoever owns the file knows of a write that failed
  return {};
}

std::string text(const Shown& shown) {
  return view::annotate_text(shown.annotation, {.all = shown.all});
}
std::string json(const Shown& shown) { return view::annotate_json(shown.annotation); }
std::string csv(const Shown& shown) { return view::annotate_csv(shown.annotation); }
Result<std::string> html(const Shown& shown) { return view::annotate_html(shown.annotation); }

const std::vector<Output<Shown>> kOutputs{
    {{"text", {".txt"}}, whole<text>},
    {{"json", {".json"}}, whole<json>},
    {{"csv", {".csv"}}, whole<csv>},
    {{"html", {".html"}}, whole<html>},
};

Result<int> run_annotate(const AnnotateFlags& flags, Terminal& terminal) {
  if (flags.command.empty())
    return failure(ErrorKind::invalid_input, "annotate code", "no program was given",
                   "write it after --, as in: loft annotate FUNCTION -- ./app");
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  LOFT_TRY(const model::Machine machine, machine_at_hand(flags.machine, terminal));
  LOFT_TRY(
      const roof::Measured measured,
      roof::measure_twice({.command = flags.command, .keep_going = flags.keep_going}, machine));
  Shown shown;
  shown.all = flags.all;
  LOFT_TRY(shown.annotation,
           roof::annotation_of(measured, machine, {.names = flags.functions, .top = flags.top}));
  LOFT_CHECK(write_output(*output, shown, flags.output, Stream::notes, terminal));
  return shown.annotation.exit_status;
}

}  // namespace

void add_annotate(Command& app, Action& action) {
  auto flags = std::make_shared<AnnotateFlags>();
  auto command = app.add_subcommand(
      "annotate", "Show the code of a function, with what holds each instruction back");
  command->add_option("--machine", flags->machine,
                      "the machine file to use (default: this machine's)");
  command->add_option("--top", flags->top, "show so many functions (default: 1)")
      ->check(between(std::size_t{1}, std::size_t{100}));
  command->add_flag("--all", flags->all, "also show code that took no time");
  command->add_flag("--keep-going", flags->keep_going,
                    "take the counts even when the program's two runs end differently");
  const std::vector<OutputForm> forms(kOutputs.begin(), kOutputs.end());
  add_output_flags(*command, flags->output, forms);
  command->add_option("function", flags->functions,
                      "functions with this in their name (default: the one that takes most time); "
                      "after --, the program and its arguments");
  command->positionals_at_end();
  const std::size_t after = command->words_after_dashes();
  command->callback([flags, after, &action] {
    auto& words = flags->functions;
    const auto first = words.end() - static_cast<std::ptrdiff_t>(std::min(after, words.size()));
    flags->command.assign(first, words.end());
    words.erase(first, words.end());
    action = [flags](Terminal& terminal) { return run_annotate(*flags, terminal); };
  });
}

}  // namespace loft::cli
