// loft roof: how close a program comes to the limits of the machine.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>

#include "base/file.hpp"
#include "base/places.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/call_flags.hpp"
#include "cli/command.hpp"
#include "cli/job_flags.hpp"
#include "cli/machine_at_hand.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/raster.hpp"
#include "cli/source_flag.hpp"
#include "cli/written.hpp"
#include "job/measure.hpp"
#include "machine/file.hpp"
#include "roof/call_points.hpp"
#include "roof/level_bytes.hpp"
#include "roof/once.hpp"
#include "roof/report.hpp"
#include "roof/run_file.hpp"
#include "roof/work_events.hpp"
#include "source/file/count_recording.hpp"
#include "source/perf_events/open.hpp"
#include "source/several_runs.hpp"
#include "view/roof.hpp"

namespace loft::cli {
namespace {

struct RoofFlags {
  std::vector<std::string> recordings;  // what stands before "--"
  std::vector<std::string> command;     // what stands after it
  std::vector<pid_t> pids;
  std::string runs = "1";
  std::string machine;
  std::string other_machine;
  SourceFlag source;
  std::string model = "cache";
  std::string ops = "auto";
  MetricFlags metrics;
  std::vector<std::string> functions;
  std::vector<std::string> calls;  // patterns of functions
  std::size_t top = 8;
  bool keep_going = false;
  bool by_thread = false;
  bool once = false;
  bool loops = false;
  bool what_if = false;
  std::string pass;  // in a job: "time" or "counts"
  JobFlags job;
  OutputFlags output;
};

// A rank cannot be run twice while the others wait for it.
bool is_rank(const RoofFlags& flags) {
  const auto rank = job::own_rank();
  return flags.job.is_given() || (rank && rank->size > 1);
}

unsigned most_runs(const RoofFlags& flags) {
  return flags.runs == "auto" ? source::kMostRuns
                              : static_cast<unsigned>(parse_u64(flags.runs).value_or(1));
}

std::string runs_problem(const std::string& text) {
  const auto number = parse_u64(text);
  if (text == "auto" || (number && *number >= 1 && *number <= source::kMostRuns)) return {};
  return fmt::format("a number from 1 to {} or auto was expected", source::kMostRuns);
}

// What is shown, and what it refers to.
struct Reports {
  std::vector<model::RoofReport> runs;
  std::vector<std::unique_ptr<roof::Measured>> measured;  // of each; nothing without a native run
  int columns = 0;                                        // of the screen; 0: none

  void add(model::RoofReport report, std::unique_ptr<roof::Measured> from) {
    runs.push_back(std::move(report));
    measured.push_back(std::move(from));
  }
  [[nodiscard]] view::RoofProfiles profiles() const {
    view::RoofProfiles profiles;
    for (const auto& one : measured) {
      profiles.emplace_back();
      if (one) profiles.back().emplace(one->native.named());
    }
    return profiles;
  }
};

// What a form needs.
constexpr unsigned kBesideText = 1;   // the text is shown on the terminal as well
constexpr unsigned kIsRecording = 2;  // written while the program runs
constexpr unsigned kShowsCode = 4;    // the code of functions as well

std::string text(const Reports& reports) { return view::roof_text(reports.runs, reports.columns); }
std::string json(const Reports& reports) { return view::roof_json(reports.runs); }
std::string csv(const Reports& reports) { return view::roof_csv(reports.runs); }
std::string svg(const Reports& reports) { return view::roof_svg(reports.runs); }
Result<std::string> png(const Reports& reports) { return rasterized(view::roof_svg(reports.runs)); }
Result<std::string> html(const Reports& reports) {
  return view::roof_html(reports.runs, reports.profiles());
}

const std::vector<Output<Reports>> kOutputs{
    {{"text", {".txt"}}, whole<text>},
    {{"json", {".json"}}, whole<json>},
    {{"csv", {".csv"}}, whole<csv>},
    {{"svg", {".svg"}, kBesideText}, whole<svg>},
    {{"png", {".png"}, kBesideText}, whole<png>},
    {{"html", {".html"}, kBesideText | kShowsCode}, whole<html>},
    {{"recording", {".data"}, kBesideText | kIsRecording}, {}},
};

roof::Wanted wanted_of(const RoofFlags& flags) {
  roof::Wanted wanted{.functions = flags.functions, .threads = flags.by_thread, .top = flags.top};
  wanted.all_loops = flags.loops;
  wanted.what_if = flags.what_if;
  const auto output = choose_output(kOutputs, flags.output);
  wanted.code = output && ((*output)->needs & kShowsCode) != 0;
  if (flags.ops == "flops") wanted.ops = model::RoofKind::flops;
  if (flags.ops == "instructions") wanted.ops = model::RoofKind::instructions;
  return wanted;
}

Result<void> write_reports(Reports& reports, const RoofFlags& flags, Stream stream,
                           Terminal& terminal) {
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  const bool is_beside = (output->needs & kBesideText) != 0 && !flags.output.file.empty();
  const bool on_screen =
      stream == Stream::notes ? terminal.notes_is_terminal() : terminal.out_is_terminal();
  if (on_screen && (is_beside || flags.output.file.empty())) reports.columns = terminal.columns();
  // What two runs have told is not lost when the disk is full.
  if (is_beside) LOFT_CHECK(write_result({}, text(reports), stream, terminal));
  if ((output->needs & kIsRecording) != 0) {
    if (stream == Stream::notes) tell_written(flags.output.file, terminal);
    return {};
  }
  return write_output(*output, reports, flags.output, stream, terminal);
}

Failure usage(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "draw a roofline", std::move(why), std::move(hint));
}

// A program is never run by mistake: what stands before -- is a recording, or an error.
Result<void> check_recordings(const RoofFlags& flags) {
  if (flags.recordings.empty()) return {};
  if (!flags.command.empty())
    return usage("it was given both recordings and a program",
                 "name recordings alone, or a program after --");
  for (const std::string& name : flags.recordings) {
    std::error_code ignored;
    if (!std::filesystem::exists(name, ignored))
      return failure(ErrorKind::not_found, "read '" + name + "'", "there is no such file",
                     "name a recording, or a program after --: loft roof -- " + name);
    LOFT_TRY(const bool is_recording, source::is_recording(name));
    if (!is_recording)
      return failure(ErrorKind::malformed, "read '" + name + "'",
                     "it is no recording, or its beginning is damaged",
                     "a program to run stands after --: loft roof -- " + name);
  }
  return {};
}

Result<void> check_rank(const RoofFlags& flags) {
  if (!flags.pass.empty() && (!flags.job.is_given() || flags.once))
    return usage("--pass is one of the two runs of a job",
                 "name the job's folder with --job, and leave out --once");
  if (!is_rank(flags)) return {};
  if (most_runs(flags) > 1 || flags.loops || !flags.other_machine.empty())
    return usage("a rank of a parallel job runs once, while the others wait for it",
                 "leave out --runs, --loops and --on");
  const bool has_output = !flags.output.file.empty() || !flags.output.format.empty();
  if (flags.job.is_given() && (has_output || flags.command.empty() || !flags.pids.empty()))
    return usage("--job keeps sums of a program that loft starts",
                 "leave out -p, recordings, -o and --format: srun loft roof --job DIR -- ./app");
  return {};
}

Failure needs_two_runs() {
  return usage(
      "this machine has no counters of operations and bytes, and a rank of a parallel job "
      "cannot run twice",
      "add --once; or start two jobs, with --job DIR --pass time and with --job DIR --pass "
      "counts, which 'loft report DIR' joins");
}

// Whatever is wrong with the flags is said before anything runs.
Result<void> check(const RoofFlags& flags) {
  LOFT_CHECK(check_recordings(flags));
  if (flags.recordings.empty() && flags.command.empty() && flags.pids.empty())
    return usage("no program was given", "write it after --, as in: loft roof -- ./app");
  const bool is_beyond_core = flags.model != "cache";
  const bool is_virtual = flags.once || flags.source.is_virtual();
  const bool is_native = flags.source.asked() == sample::Source::perf_events;
  if (flags.once && is_native)
    return usage("the virtual PMU is no counter of the machine",
                 "leave out --once or --source perf_events");
  if (is_beyond_core && flags.once)
    return usage("bytes beyond the core are modelled in a further run",
                 "leave out --once or --model");
  if (flags.model == "levels" && (is_native || !flags.pids.empty()))
    return usage("bytes of every level are modelled, from a run under the virtual PMU",
                 "leave out -p and --source perf_events");
  if (!flags.pids.empty() && is_virtual)
    return usage("the virtual PMU counts only what it starts itself",
                 "leave out -p, or --once and --source virtual");
  if (most_runs(flags) > 1 && (is_virtual || !flags.pids.empty()))
    return usage(is_virtual ? "the virtual PMU counts everything in one run"
                            : "only a program that loft starts can be repeated",
                 "leave out --runs");
  if (flags.loops && (flags.once || is_native || !flags.pids.empty()))
    return usage("loops are found by the virtual PMU, in the second run of a program",
                 "leave out --loops, or --once, --source perf_events and -p");
  if (!flags.calls.empty() && (flags.command.empty() || flags.once || is_rank(flags) ||
                               is_beyond_core || !flags.other_machine.empty()))
    return usage("calls are measured in two more runs of a program that loft starts",
                 "leave out --calls, or -p, recordings, --once, --on, --job and --model");
  const bool needs_counters = is_native || !flags.pids.empty();
  if (!flags.other_machine.empty() &&
      (needs_counters || is_beyond_core || flags.once || !flags.recordings.empty()))
    return usage("another machine is modelled with the virtual PMU, in further runs of a program",
                 "leave out --on, or --once, --model, --source perf_events, -p and recordings");
  LOFT_CHECK(check_rank(flags));
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  if ((output->needs & kIsRecording) != 0 && flags.output.file.empty())
    return usage("a recording needs a file", "name it with -o");
  return {};
}

// Operations and bytes by counters of the machine, where it has them.
Result<roof::WorkCounters> counters_at_hand(const RoofFlags& flags, Terminal& terminal) {
  const std::string shared = join_path(share_directory(), "metrics");
  if (flags.metrics.files.empty() && !file_exists(shared))
    return failure(ErrorKind::not_found, "count operations and bytes with hardware counters",
                   "the metrics that say which events these are are not in '" + shared + "'",
                   "install loft's share folder there, or name a folder with --metrics");
  MetricFlags metrics = flags.metrics;
  metrics.machine = flags.machine;
  LOFT_TRY(const auto library, load_metrics(metrics, terminal));
  return roof::WorkCounters::find(library, flags.model == "dram");
}

bool is_recording_wanted(const RoofFlags& flags) {
  const auto output = choose_output(kOutputs, flags.output);
  return output && ((*output)->needs & kIsRecording) != 0;
}

roof::BytesAt bytes_of(const RoofFlags& flags) {
  if (flags.model == "levels") return roof::BytesAt::levels;
  return flags.model == "dram" ? roof::BytesAt::memory : roof::BytesAt::core;
}

roof::Target target_of(const RoofFlags& flags) {
  return {.command = flags.command,
          .pids = flags.pids,
          .most_runs = most_runs(flags),
          .keep_going = flags.keep_going,
          .file = is_recording_wanted(flags) ? flags.output.file : std::string(),
          .bytes = bytes_of(flags)};
}

// Nothing where the virtual PMU is to count, or has to.
Result<std::optional<roof::WorkCounters>> choose_counters(const RoofFlags& flags,
                                                          Terminal& terminal) {
  if (flags.source.is_virtual() || flags.loops || flags.model == "levels") return std::nullopt;
  auto found = counters_at_hand(flags, terminal);
  if (found) return *std::move(found);
  if (!flags.pids.empty() && found.error().kind == ErrorKind::unsupported)
    found.error().hint = "start the program with loft instead: loft roof -- COMMAND";
  if (flags.source.asked() == sample::Source::perf_events || !flags.pids.empty())
    return Failure(std::move(found).error());
  // On a machine without counters their metrics are not missed.
  if (found.error().kind == ErrorKind::not_found && source::perf_events::has_core_pmu())
    terminal.note("note: " + to_string(found.error()) + "; the virtual PMU counts instead\n");
  return std::nullopt;
}

// The native run has the terminal for itself; of what follows, a line tells.
auto show_passes(std::optional<ProgressLine>& line, Terminal& terminal) {
  return [&](std::string_view doing, double native_seconds) {
    line.reset();
    line.emplace(terminal,
                 fmt::format("natively it took {}; {}", format_seconds(native_seconds), doing));
  };
}

// How it would run on another machine, by what the virtual PMU and a model say.
Result<int> run_for_another(const RoofFlags& flags, Terminal& terminal) {
  LOFT_TRY(const model::Machine other, machine::load(flags.other_machine));
  LOFT_TRY(const model::Machine machine, machine_at_hand(flags.machine, terminal));
  auto measured = std::make_unique<roof::Measured>();
  std::optional<ProgressLine> line;
  roof::Target target = target_of(flags);
  target.on_pass = show_passes(line, terminal);
  LOFT_TRY(*measured, roof::measure_twice(target, machine, &other));
  line.reset();
  model::RoofReport report = roof::report_elsewhere(*measured, machine, other, wanted_of(flags));
  Reports reports;
  reports.add(std::move(report), std::move(measured));
  LOFT_CHECK(write_reports(reports, flags, Stream::notes, terminal));
  return reports.runs.front().exit_status;
}

Result<int> run_program(const RoofFlags& flags, Terminal& terminal) {
  if (!flags.other_machine.empty()) return run_for_another(flags, terminal);
  LOFT_TRY(const auto counters, choose_counters(flags, terminal));
  if (!counters && is_rank(flags)) return needs_two_runs();
  LOFT_TRY(model::Machine machine, machine_at_hand(flags.machine, terminal));
  roof::Target target = target_of(flags);
  std::optional<ProgressLine> line;
  target.on_pass = show_passes(line, terminal);
  auto measured = std::make_unique<roof::Measured>();
  if (counters) {
    if (target.bytes == roof::BytesAt::memory) machine = roof::roofs_of_memory(std::move(machine));
    target.bytes = roof::BytesAt::core;  // as the counters have them
  }
  LOFT_TRY(*measured, counters ? roof::measure_by_counters(target, *counters, machine)
                               : roof::measure_twice(target, machine));
  line.reset();
  model::RoofReport report =
      roof::report_of(*measured, roof::roofs_for(target.bytes, machine), wanted_of(flags));
  if (!flags.calls.empty()) {
    LOFT_TRY(const auto calls,
             roof::measure_call_points(split_patterns(flags.calls), flags.command));
    roof::place_calls(calls, machine, report);
  }
  Reports reports;
  reports.add(std::move(report), std::move(measured));
  LOFT_CHECK(write_reports(reports, flags, Stream::notes, terminal));
  return reports.runs.front().exit_status;
}

Result<int> run_program_once(const RoofFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto machine, machine_at_hand(flags.machine, terminal));
  const roof::Target target = target_of(flags);
  LOFT_TRY(roof::CountedRun run, roof::run_once(target.command, target.file));
  Reports reports;
  reports.add(roof::report_of(std::move(run), machine, wanted_of(flags)), nullptr);
  LOFT_CHECK(write_reports(reports, flags, Stream::notes, terminal));
  return reports.runs.front().exit_status;
}

Result<void> add_recording(const std::string& path, const RoofFlags& flags, Reports& reports,
                           Terminal& terminal) {
  roof::Wanted wanted = wanted_of(flags);
  // All stand in one drawing, so that the first decides what counts as work.
  if (!reports.runs.empty()) wanted.ops = reports.runs.front().chart.roofline.work;
  LOFT_TRY(auto recording, source::Recording::open(path));
  if (roof::is_counted(*recording)) {
    LOFT_TRY(const auto machine, machine_at_hand(flags.machine, terminal));
    LOFT_TRY(auto counted, roof::read_counted(*recording));
    reports.add(roof::report_of(std::move(counted), machine, wanted), nullptr);
    return {};
  }
  LOFT_TRY(roof::KeptRun kept, roof::read_run(*recording));
  if (!flags.machine.empty()) {
    LOFT_TRY(kept.machine, machine::load(flags.machine));
    kept.machine = roof::roofs_for(roof::bytes_of(kept.counted), std::move(kept.machine));
  }
  auto measured = std::make_unique<roof::Measured>();
  LOFT_TRY(measured->native, roof::profile_of(std::move(kept.native), std::move(recording)));
  measured->counted = std::move(kept.counted);
  measured->kept = std::move(kept.analysis);
  model::RoofReport report = roof::report_of(*measured, kept.machine, wanted);
  reports.add(std::move(report), std::move(measured));
  return {};
}

Result<int> show_recordings(const RoofFlags& flags, Terminal& terminal) {
  Reports reports;
  for (const std::string& path : flags.recordings) {
    LOFT_CHECK(add_recording(path, flags, reports, terminal));
    if (flags.recordings.size() > 1)
      reports.runs.back().label = std::filesystem::path(path).stem().string();
  }
  LOFT_CHECK(write_reports(reports, flags, Stream::out, terminal));
  return 0;
}

// What a rank did and how long it took; its place under the roofs is shown by the report of the
// job.
Result<int> run_rank(const RoofFlags& flags, Terminal& terminal) {
  const auto run = [&](const std::function<Result<void>(job::RankSummary&)>& measure) {
    return run_as_rank(flags.job, flags.command, terminal, [&](job::RankSummary& summary) {
      summary.pass = flags.pass;
      return measure(summary);
    });
  };
  if (flags.pass == "time")
    return run([&](auto& summary) { return job::measure_time(flags.command, {}, summary); });
  if (flags.pass == "counts") {
    LOFT_TRY(const auto events, roof::virtual_events(roof::work_event_names() + ",flops"));
    return run([&](auto& summary) { return job::measure_work(flags.command, events, summary); });
  }
  if (flags.once)
    return run([&](auto& summary) { return job::measure_both_once(flags.command, summary); });
  LOFT_TRY(const auto counters, choose_counters(flags, terminal));
  if (!counters) return needs_two_runs();
  return run([&](auto& summary) { return job::measure_both(flags.command, *counters, summary); });
}

Result<int> run_roof(RoofFlags flags, Terminal& terminal) {
  LOFT_CHECK(check(flags));
  if (!flags.recordings.empty()) return show_recordings(flags, terminal);
  if (const auto warning = launcher_warning(flags.command, "loft roof --once", false);
      !warning.empty())
    terminal.note("loft: " + warning + "\n");
  if (flags.job.is_given()) return run_rank(flags, terminal);
  flags.output.file = own_output(flags.output.file);
  return flags.once ? run_program_once(flags, terminal) : run_program(flags, terminal);
}

}  // namespace

void add_roof(Command& app, Action& action) {
  auto flags = std::make_shared<RoofFlags>();
  auto command =
      app.add_subcommand("roof", "Show how close a program comes to the machine's roofs");
  command->add_option("--machine", flags->machine,
                      "the machine file to use (default: this machine's)");
  command->add_option("--on", flags->other_machine,
                      "show how it would run on the machine of this file, by a model");
  add_source_flag(*command, flags->source,
                  "who counts operations and bytes (default: the first that can)");
  command
      ->add_option(
          "--model", flags->model,
          "cache: bytes as the core sees them, roofs of every level (default); dram: bytes "
          "that memory moves; levels: bytes at every level, a point at each; by a model in a "
          "further run, which takes long, where no counter of the machine tells them")
      ->check(one_of({"cache", "dram", "levels"}));
  command
      ->add_option("--ops", flags->ops,
                   "what counts as work: flops, instructions, or what fits the program (auto, the "
                   "default): instructions where it has hardly any floating point")
      ->check(one_of({"auto", "flops", "instructions"}));
  command
      ->add_option("-m,--metrics", flags->metrics.files,
                   "metrics that say which events are operations and bytes")
      ->allow_extra_args(false);
  command->add_option("--function", flags->functions, "show only functions with this in their name")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--calls", flags->calls,
          "each call of these functions as a point, instead of slices of time, by two more "
          "runs: 'solve*'")
      ->allow_extra_args(false);
  command->add_option("--top", flags->top, "show so many functions (default: 8)")
      ->check(between(std::size_t{1}, std::size_t{1000}));
  command->add_flag("--loops", flags->loops, "also show loops that take little of the time");
  command->add_flag("--what-if", flags->what_if,
                    "also show how much faster it would be without each cause");
  command->add_flag("--per-thread", flags->by_thread, "also show each thread");
  command->add_flag("--threads", flags->by_thread, "")->hide();
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
  command
      ->add_option("--pass", flags->pass,
                   "with --job: measure the time in one job and the counts in another; the report "
                   "joins them by rank")
      ->check(one_of({"time", "counts"}));
  add_job_flag(*command, flags->job);
  command->add_flag("--keep-going", flags->keep_going,
                    "take the counts even when the program's two runs end differently");
  add_output_flags(*command, flags->output, forms_of(kOutputs));
  command->add_option(
      "command", flags->recordings,
      "the program and its arguments, after --; or recordings of this command; with -p a "
      "program whose end ends the watching");
  command->positionals_at_end();
  const std::size_t after = command->words_after_dashes();
  command->callback([flags, after, &action] {
    flags->command = take_after_dashes(flags->recordings, after);
    action = [flags](Terminal& terminal) { return run_roof(*flags, terminal); };
  });
}

}  // namespace loft::cli
