// loft annotate: the code of a function, with what each line and instruction did and waited for.
#include "roof/annotate.hpp"

#include <algorithm>

#include "cli/command.hpp"
#include "cli/machine_at_hand.hpp"
#include "cli/output.hpp"
#include "roof/measure.hpp"
#include "roof/run_file.hpp"
#include "roof/sampled_code.hpp"
#include "source/file/count_recording.hpp"
#include "view/annotate.hpp"

namespace loft::cli {
namespace {

struct AnnotateFlags {
  std::vector<std::string> functions;  // what stands before "--"
  std::string recording;               // of these, the one that is a recording
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

Failure usage(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "annotate code", std::move(why), std::move(hint));
}

roof::AnnotateWanted wanted_of(const AnnotateFlags& flags) {
  return {.names = flags.functions, .top = flags.top};
}

Result<int> show(model::Annotation annotation, const AnnotateFlags& flags, Stream stream,
                 Terminal& terminal) {
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  const Shown shown{std::move(annotation), flags.all};
  LOFT_CHECK(write_output(*output, shown, flags.output, stream, terminal));
  return shown.annotation.exit_status;
}

Result<int> run_program(const AnnotateFlags& flags, Terminal& terminal) {
  LOFT_CHECK(choose_output(kOutputs, flags.output));
  LOFT_TRY(const model::Machine machine, machine_at_hand(flags.machine, terminal));
  LOFT_TRY(
      const roof::Measured measured,
      roof::measure_twice({.command = flags.command, .keep_going = flags.keep_going}, machine));
  LOFT_TRY(auto annotation, roof::annotation_of(measured, machine, wanted_of(flags)));
  return show(std::move(annotation), flags, Stream::notes, terminal);
}

Result<model::Annotation> annotation_of(const AnnotateFlags& flags) {
  LOFT_TRY(auto recording, source::Recording::open(flags.recording));
  if (!roof::is_kept_run(*recording)) return roof::annotate_samples(*recording, wanted_of(flags));
  LOFT_TRY(roof::KeptRun kept, roof::read_run(*recording));
  roof::Measured measured;
  LOFT_TRY(measured.native, roof::profile_of(std::move(kept.native), std::move(recording)));
  measured.counted = std::move(kept.counted);
  measured.kept = std::move(kept.analysis);
  return roof::annotation_of(measured, kept.machine, wanted_of(flags));
}

Result<int> show_recording(const AnnotateFlags& flags, Terminal& terminal) {
  LOFT_TRY(auto annotation, annotation_of(flags));
  LOFT_CHECK(show(std::move(annotation), flags, Stream::out, terminal));
  return 0;
}

Result<int> run_annotate(const AnnotateFlags& flags, Terminal& terminal) {
  if (flags.command.empty() == flags.recording.empty())
    return usage(flags.command.empty() ? "neither a program nor a recording was given"
                                       : "it was given both a recording and a program",
                 "write a program after --, as in: loft annotate FUNCTION -- ./app");
  return flags.command.empty() ? show_recording(flags, terminal) : run_program(flags, terminal);
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
  add_output_flags(*command, flags->output, forms_of(kOutputs));
  command->add_option(
      "function", flags->functions,
      "functions with this in their name (default: the one that takes most time); a "
      "recording of loft roof, loft record or perf; after --, the program and its arguments");
  command->positionals_at_end();
  const std::size_t after = command->words_after_dashes();
  command->callback([flags, after, &action] {
    auto& words = flags->functions;
    flags->command = take_after_dashes(words, after);
    const auto file = std::ranges::find_if(words, [](const std::string& word) {
      return source::is_recording(word).value_or(false);  // else it is a name
    });
    if (file != words.end()) {
      flags->recording = *file;
      words.erase(file);
    }
    action = [flags](Terminal& terminal) { return run_annotate(*flags, terminal); };
  });
}

}  // namespace loft::cli
