// loft roof: how close a program comes to the limits of the machine.
#include <fmt/format.h>

#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/machine_at_hand.hpp"
#include "cli/output.hpp"
#include "cli/roof_passes.hpp"
#include "cli/roof_streams.hpp"
#include "view/roof.hpp"
#include "view/roofline_svg.hpp"

namespace loft::cli {
namespace {

struct RoofFlags {
  std::vector<std::string> command;
  std::string machine;
  std::vector<std::string> functions;
  std::size_t top = 8;
  bool keep_going = false;
  bool by_thread = false;
  OutputFlags output;
};

bool wants_drawing(const OutputFlags& output) { return output.file.ends_with(".svg"); }

// A program that fails, or does something else the second time, gives numbers of something else.
Result<void> check_first(const NativePass& native, const RoofFlags& flags) {
  const int status = native.counts.exit_status;
  if (status == 0 || flags.keep_going) return {};
  return failure(ErrorKind::invalid_input, "place '" + flags.command[0] + "' under its roof",
                 fmt::format("it ended with status {}", status),
                 "use --keep-going if that is what it should do");
}

Result<void> check_second(const NativePass& native, const sample::RunCounts& counted,
                          const TwiceStreams& streams, const RoofFlags& flags,
                          std::vector<std::string>& notes) {
  // A program may print its own timings; only a person can tell whether it did other work.
  if (const auto difference = streams.difference())
    notes.push_back(*difference +
                    ": if it did other work, and did not just print other times, the rates are "
                    "wrong");
  if (counted.exit_status == native.counts.exit_status) return {};
  const std::string why =
      fmt::format("it ended with status {} natively and {} under the virtual PMU",
                  native.counts.exit_status, counted.exit_status);
  if (flags.keep_going) {
    notes.push_back("the two runs differ: " + why);
    return {};
  }
  const std::string words = streams.last_words();
  return failure(ErrorKind::invalid_input, "join the two runs of '" + flags.command[0] + "'",
                 why + (words.empty() ? "" : "; its last words were: " + words),
                 "use --keep-going to take the counts all the same");
}

void keep_named(std::vector<model::Subject>& subjects, const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::erase_if(subjects, [&](const model::Subject& subject) {
    return subject.scope == model::Scope::function &&
           std::ranges::none_of(names, [&](const std::string& name) {
             return subject.name.find(name) != std::string::npos;
           });
  });
}

std::string drawing_of(const model::RoofChart& chart) {
  std::vector<model::RooflinePoint> points;
  const auto add = [&](const model::RoofPoint& point, std::string name) {
    if (!point.intensity) return;
    points.push_back(
        {std::move(name), *point.intensity, *point.flops_per_second, point.share_of_time});
  };
  for (const model::RoofPoint& point : chart.points)
    if (point.subject.scope == model::Scope::run) add(point, "whole run");
  for (const std::size_t index : chart.shown)
    add(chart.points[index], chart.points[index].subject.name);
  return view::roofline_svg(chart.roofline, points);
}

Result<void> write_report(const view::RoofReport& report, const RoofFlags& flags,
                          Terminal& terminal) {
  if (wants_drawing(flags.output)) {
    LOFT_CHECK(replace_file(flags.output.file, drawing_of(report.chart)));
    terminal.note(view::roof_text(report));
    return {};
  }
  LOFT_TRY(const Format format, choose_format(flags.output));
  const std::string text = format == Format::json  ? view::roof_json(report)
                           : format == Format::csv ? view::roof_csv(report)
                                                   : view::roof_text(report);
  return write_result(flags.output, text, Stream::notes, terminal);
}

Result<void> check(const RoofFlags& flags) {
  if (flags.command.empty())
    return failure(ErrorKind::invalid_input, "draw a roofline", "no program was given",
                   "write it after --, as in: loft roof -- ./app");
  if (!wants_drawing(flags.output)) {
    LOFT_TRY([[maybe_unused]] const Format format, choose_format(flags.output));
  }
  return {};
}

Result<int> run_roof(const RoofFlags& flags, Terminal& terminal) {
  LOFT_CHECK(check(flags));
  LOFT_TRY(const auto machine, machine_at_hand(flags.machine, terminal));
  LOFT_TRY(auto streams, TwiceStreams::prepare());
  LOFT_TRY(const auto native, run_natively(flags.command, streams.first(), {}));
  LOFT_CHECK(check_first(native, flags));
  LOFT_TRY(const auto second, streams.second());
  LOFT_TRY(const auto counted, run_counted(flags.command, second));

  view::RoofReport report;
  report.notes = native.counts.notes;
  if (!streams.note().empty()) report.notes.push_back(streams.note());
  LOFT_CHECK(check_second(native, counted, streams, flags, report.notes));
  auto subjects = join_passes(native, counted, report.notes);
  keep_named(subjects, flags.functions);
  if (!flags.by_thread)
    std::erase_if(subjects,
                  [](const auto& subject) { return subject.scope == model::Scope::thread; });
  report.command = flags.command;
  report.exit_status = native.counts.exit_status;
  report.wall_seconds = to_seconds(native.counts.wall);
  report.cpu_seconds = native.cpu_seconds();
  report.threads = counted.threads.size();
  report.counts_from = "virtual PMU, exact";
  report.time_from = "native run";
  report.machine_identity = machine.identity;
  report.chart = model::place(machine, std::move(subjects), flags.top);
  LOFT_CHECK(write_report(report, flags, terminal));
  return native.counts.exit_status;
}

}  // namespace

void add_roof(CLI::App& app, Action& action) {
  auto flags = std::make_shared<RoofFlags>();
  auto* command =
      app.add_subcommand("roof", "Show how close a program comes to the machine's roofs");
  command->add_option("--machine", flags->machine,
                      "the machine file to use (default: this machine's)");
  command->add_option("--function", flags->functions, "show only functions with this in their name")
      ->allow_extra_args(false);
  command->add_option("--top", flags->top, "show so many functions (default: 8)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}));
  command->add_flag("--threads", flags->by_thread, "also show each thread");
  command->add_flag("--keep-going", flags->keep_going,
                    "go on when the program fails or its two runs differ");
  add_output_flags(*command, flags->output);
  command->add_option("command", flags->command, "the program and its arguments, after --");
  command->positionals_at_end();
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_roof(*flags, terminal); };
  });
}

}  // namespace loft::cli
