// loft roof: how close a program comes to the limits of the machine.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/machine_at_hand.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "cli/raster.hpp"
#include "cli/roof_counters.hpp"
#include "cli/roof_file.hpp"
#include "cli/roof_measure.hpp"
#include "cli/roof_once.hpp"
#include "cli/roof_passes.hpp"
#include "cli/roof_recording.hpp"
#include "machine/file.hpp"
#include "source/several_runs.hpp"
#include "view/roof.hpp"

namespace loft::cli {
namespace {

struct RoofFlags {
  std::vector<std::string> command;  // or recordings
  std::vector<pid_t> pids;
  std::string runs = "1";
  std::string machine;
  std::string source = "auto";
  std::string model = "cache";
  MetricFlags metrics;
  std::vector<std::string> functions;
  std::size_t top = 8;
  bool keep_going = false;
  bool by_thread = false;
  bool once = false;
  OutputFlags output;
};

unsigned most_runs(const RoofFlags& flags) {
  return flags.runs == "auto" ? source::kMostRuns
                              : static_cast<unsigned>(parse_u64(flags.runs).value_or(1));
}

std::string runs_problem(const std::string& text) {
  const auto number = parse_u64(text);
  if (text == "auto" || (number && *number >= 1 && *number <= source::kMostRuns)) return {};
  return fmt::format("a number from 1 to {} or auto was expected", source::kMostRuns);
}

bool ends_in(const OutputFlags& output, std::string_view extension) {
  return output.format.empty() && output.file.ends_with(extension);
}

void keep_wanted(std::vector<model::Subject>& subjects, const RoofFlags& flags,
                 std::vector<std::string>& notes) {
  const auto count_functions = [&] {
    return std::ranges::count(subjects, model::Scope::function, &model::Subject::scope);
  };
  const auto all = count_functions();
  std::erase_if(subjects, [&](const model::Subject& subject) {
    if (subject.scope == model::Scope::thread) return !flags.by_thread;
    return subject.scope == model::Scope::function && !flags.functions.empty() &&
           std::ranges::none_of(flags.functions, [&](const std::string& name) {
             return subject.name.find(name) != std::string::npos;
           });
  });
  if (all > 0 && count_functions() == 0)
    notes.push_back(fmt::format("of its {} functions none has '{}' in its name", all,
                                join(flags.functions, "' or '")));
}

void note_status(view::RoofReport& report) {
  if (report.exit_status != 0)
    report.notes.push_back("the program ended with status " + status_words(report.exit_status));
}

view::RoofReport report_of(const NativePass& native, const sample::RunCounts& counted,
                           const model::Machine& machine, const RoofFlags& flags) {
  view::RoofReport report;
  report.command = native.counts.command;
  report.exit_status = native.counts.exit_status;
  report.wall_seconds = to_seconds(native.counts.wall);
  report.cpu_seconds = native.cpu_seconds();
  report.threads = threads_of(counted).size();
  report.counts_from = is_by_counters(counted) ? "hardware counters" : "virtual PMU, exact";
  report.machine_identity = machine.identity;
  report.energy = native.counts.energy;
  report.notes = native.counts.notes;
  note_status(report);
  auto subjects = join_passes(native, counted, report.notes);
  keep_wanted(subjects, flags, report.notes);
  report.chart = model::place(machine, std::move(subjects), flags.top);
  if (ends_in(flags.output, ".html")) {
    report.flames = flames_of(native);
    report.schedule = schedule_of(native);
    report.thread_names = thread_names_of(native);
  }
  return report;
}

// What an extension of -o asks for beside the text on the terminal.
bool is_picture(const OutputFlags& output) {
  constexpr std::array kPictures{".svg", ".png", ".html", ".data"};
  return std::ranges::any_of(kPictures,
                             [&](const char* extension) { return ends_in(output, extension); });
}

Result<void> write_picture(std::span<const view::RoofReport> runs, const OutputFlags& output) {
  if (ends_in(output, ".svg")) return replace_file(output.file, view::roof_svg(runs));
  if (ends_in(output, ".png")) {
    LOFT_TRY(const auto picture, rasterized(view::roof_svg(runs)));
    return replace_file(output.file, picture);
  }
  if (ends_in(output, ".html")) {
    LOFT_TRY(const auto page, view::roof_html(runs));
    return replace_file(output.file, page);
  }
  return {};  // a recording was written while the program ran
}

Result<void> write_reports(std::span<const view::RoofReport> runs, const RoofFlags& flags,
                           Stream stream, Terminal& terminal) {
  if (is_picture(flags.output)) {
    // What two runs have told is not lost when the disk is full.
    LOFT_CHECK(write_result({}, view::roof_text(runs), stream, terminal));
    return write_picture(runs, flags.output);
  }
  LOFT_TRY(const Format format, choose_format(flags.output));
  const std::string text = format == Format::json  ? view::roof_json(runs)
                           : format == Format::csv ? view::roof_csv(runs)
                                                   : view::roof_text(runs);
  return write_result(flags.output, text, stream, terminal);
}

Failure usage(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "draw a roofline", std::move(why), std::move(hint));
}

bool is_recording(const std::string& path) {
  constexpr std::size_t kMagic = 8;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const auto mapping = Mapping::of_file(path);
  if (!mapping || mapping->bytes().size() < kMagic) return false;
  const auto* text = reinterpret_cast<const char*>(mapping->bytes().data());
  return std::string_view(text, kMagic) == "PERFILE2" ||
         std::string_view(text, kMagic) == "2ELIFREP";
}

// Recordings that are named as such are not taken for a program and its arguments.
Result<void> check_recordings(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const auto other = std::ranges::find_if_not(names, is_recording);
  if (other == names.end()) return {};
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(*other, ignored);
  if (other != names.begin() || (!is_there && other->ends_with(".data")))
    return failure(is_there ? ErrorKind::invalid_input : ErrorKind::not_found,
                   "read '" + *other + "'",
                   is_there ? "it is no recording" : "there is no such file",
                   "name recordings alone, or a program after --");
  return {};
}

// Whatever is wrong with the flags is said before anything runs.
Result<void> check(const RoofFlags& flags) {
  if (flags.command.empty() && flags.pids.empty())
    return usage("no program was given", "write it after --, as in: loft roof -- ./app");
  if (flags.pids.empty()) LOFT_CHECK(check_recordings(flags.command));
  const bool is_dram = flags.model == "dram";
  const bool is_virtual = flags.once || flags.source == "virtual";
  if ((flags.once && flags.source == "counters") || (is_dram && is_virtual))
    return usage("the virtual PMU sees the bytes of the core, and is no counter of the machine",
                 "leave out --once, --source virtual, or --model dram and --source counters");
  if (!flags.pids.empty() && is_virtual)
    return usage("the virtual PMU counts only what it starts itself",
                 "leave out -p, or --once and --source virtual");
  if (most_runs(flags) > 1 && (is_virtual || !flags.pids.empty()))
    return usage(is_virtual ? "the virtual PMU counts everything in one run"
                            : "only a program that loft starts can be repeated",
                 "leave out --runs");
  if (is_picture(flags.output)) return {};
  if (const auto format = choose_format(flags.output); !format)
    return failure(
        ErrorKind::invalid_input, format.error().what, format.error().why,
        "end the name in .svg, .png, .html, .data, .json, .csv or .txt, or give --format");
  return {};
}

// Operations and bytes by counters of the machine, where it has them.
Result<WorkCounters> counters_at_hand(const RoofFlags& flags, Terminal& terminal) {
  MetricFlags metrics = flags.metrics;
  metrics.machine = flags.machine;
  LOFT_TRY(const auto library, load_metrics(metrics, terminal));
  return WorkCounters::find(library, flags.model == "dram");
}

// With the bytes that memory moves, memory's bandwidth is the only one that bounds.
model::Machine roofs_for(model::Machine machine, const RoofFlags& flags) {
  if (flags.model == "dram")
    std::erase_if(machine.roofs, [](const model::Roof& roof) {
      return roof.kind == model::RoofKind::bandwidth && roof.level != "DRAM";
    });
  return machine;
}

RoofTarget target_of(const RoofFlags& flags) {
  return {.command = flags.command,
          .pids = flags.pids,
          .most_runs = most_runs(flags),
          .keep_going = flags.keep_going,
          .file = ends_in(flags.output, ".data") ? flags.output.file : std::string()};
}

Result<int> run_program(const RoofFlags& flags, Terminal& terminal) {
  std::optional<WorkCounters> counters;
  if (flags.source != "virtual") {
    auto found = counters_at_hand(flags, terminal);
    if (!found && !flags.pids.empty() && found.error().kind == ErrorKind::unsupported)
      found.error().hint = "start the program with loft instead: loft roof -- COMMAND";
    if (!found && (flags.source == "counters" || flags.model == "dram" || !flags.pids.empty()))
      return Failure(std::move(found).error());
    if (found) counters = *std::move(found);
  }
  LOFT_TRY(auto at_hand, machine_at_hand(flags.machine, terminal));
  const model::Machine machine = roofs_for(std::move(at_hand), flags);
  const RoofTarget target = target_of(flags);
  LOFT_TRY(auto run, counters ? measure_by_counters(target, *counters) : measure_twice(target));
  run.first.run->add_feature(kWorkFeature, to_bytes(work_json(run.native.counts, run.counted)));
  run.first.run->add_feature(kMachineFeature, to_bytes(machine::to_json(machine)));
  LOFT_CHECK(run.first.run->keep());
  const view::RoofReport report = report_of(run.native, run.counted, machine, flags);
  LOFT_CHECK(write_reports({&report, 1}, flags, Stream::notes, terminal));
  return report.exit_status;
}

// Counts and an estimate of the time from a single run under the virtual PMU.
view::RoofReport report_of(CountedRun run, const model::Machine& machine, const RoofFlags& flags) {
  view::RoofReport report;
  report.command = std::move(run.command);
  report.exit_status = run.exit_status;
  report.wall_seconds = run.wall_seconds;
  report.cpu_seconds = run.cpu_seconds;
  report.threads = run.threads;
  report.counts_from = "virtual PMU, exact";
  report.time_is_estimated = true;
  report.machine_identity = machine.identity;
  report.notes = std::move(run.notes);
  note_status(report);
  keep_wanted(run.subjects, flags, report.notes);
  report.chart = model::place(machine, std::move(run.subjects), flags.top);
  return report;
}

Result<int> run_program_once(const RoofFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto machine, machine_at_hand(flags.machine, terminal));
  const RoofTarget target = target_of(flags);
  LOFT_TRY(CountedRun run, run_once(target.command, target.file));
  LOFT_CHECK(check_status(run.exit_status, target));
  const view::RoofReport report = report_of(std::move(run), machine, flags);
  LOFT_CHECK(write_reports({&report, 1}, flags, Stream::notes, terminal));
  return report.exit_status;
}

Result<int> show_recordings(const RoofFlags& flags, Terminal& terminal) {
  std::vector<view::RoofReport> runs;
  for (const std::string& path : flags.command) {
    LOFT_TRY(const auto recording, source::Recording::open(path));
    if (is_counted(*recording)) {
      LOFT_TRY(const auto machine, machine_at_hand(flags.machine, terminal));
      LOFT_TRY(auto counted, read_counted(*recording));
      runs.push_back(report_of(std::move(counted), machine, flags));
      if (flags.command.size() > 1) runs.back().label = std::filesystem::path(path).stem().string();
      continue;
    }
    LOFT_TRY(auto kept, read_run(path));
    if (!flags.machine.empty()) {
      LOFT_TRY(kept.machine, machine::load(flags.machine));
    }
    LOFT_TRY(const auto native, profile_of(std::move(kept.native), std::move(kept.recording)));
    runs.push_back(report_of(native, kept.counted, kept.machine, flags));
    if (flags.command.size() > 1) runs.back().label = std::filesystem::path(path).stem().string();
  }
  LOFT_CHECK(write_reports(runs, flags, Stream::out, terminal));
  return 0;
}

Result<int> run_roof(const RoofFlags& flags, Terminal& terminal) {
  LOFT_CHECK(check(flags));
  if (flags.pids.empty() && std::ranges::all_of(flags.command, is_recording))
    return show_recordings(flags, terminal);
  return flags.once ? run_program_once(flags, terminal) : run_program(flags, terminal);
}

}  // namespace

void add_roof(Command& app, Action& action) {
  auto flags = std::make_shared<RoofFlags>();
  auto command =
      app.add_subcommand("roof", "Show how close a program comes to the machine's roofs");
  command->add_option("--machine", flags->machine,
                      "the machine file to use (default: this machine's)");
  command
      ->add_option("--source", flags->source,
                   "what counts operations and bytes: counters of the machine, the virtual PMU, or "
                   "the first of them that can (auto, the default)")
      ->check(one_of({"auto", "counters", "virtual"}));
  command
      ->add_option(
          "--model", flags->model,
          "cache: bytes as the core sees them, roofs of every level (default); dram: bytes "
          "that memory moves, which needs counters of the machine")
      ->check(one_of({"cache", "dram"}));
  command
      ->add_option("-m,--metrics", flags->metrics.files,
                   "metrics that say which events are operations and bytes")
      ->allow_extra_args(false);
  command->add_option("--function", flags->functions, "show only functions with this in their name")
      ->allow_extra_args(false);
  command->add_option("--top", flags->top, "show so many functions (default: 8)")
      ->check(between(std::size_t{1}, std::size_t{1000}));
  command->add_flag("--threads", flags->by_thread, "also show each thread");
  command->add_option("-p,--pid", flags->pids, "watch these running processes, with counters")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option(
          "--runs", flags->runs,
          "run the program at most so often, that events need not share counters; auto: as "
          "often as it takes")
      ->check(runs_problem);
  command->add_flag("--once", flags->once,
                    "run the program once, under the virtual PMU, and estimate its time");
  command->add_flag("--keep-going", flags->keep_going,
                    "go on when the program fails or its two runs differ");
  add_output_flags(*command, flags->output);
  command->add_option(
      "command", flags->command,
      "the program and its arguments, after --; or recordings of this command; with -p a "
      "program whose end ends the watching");
  command->positionals_at_end();
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_roof(*flags, terminal); };
  });
}

}  // namespace loft::cli
