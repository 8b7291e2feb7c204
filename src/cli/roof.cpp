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
#include "machine/file.hpp"
#include "roof/once.hpp"
#include "roof/report.hpp"
#include "roof/run_file.hpp"
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

roof::Wanted wanted_of(const RoofFlags& flags) {
  return {.functions = flags.functions, .threads = flags.by_thread, .top = flags.top};
}

// What an extension of -o asks for beside the text on the terminal.
bool is_picture(const OutputFlags& output) {
  constexpr std::array kPictures{".svg", ".png", ".html", ".data"};
  return std::ranges::any_of(kPictures,
                             [&](const char* extension) { return ends_in(output, extension); });
}

// What is shown, and what it refers to.
struct Reports {
  std::vector<model::RoofReport> runs;
  std::vector<std::unique_ptr<roof::Measured>> measured;  // of each; nothing without a native run

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

Result<void> write_picture(const Reports& reports, const OutputFlags& output) {
  const std::span<const model::RoofReport> runs = reports.runs;
  if (ends_in(output, ".svg")) return replace_file(output.file, view::roof_svg(runs));
  if (ends_in(output, ".png")) {
    LOFT_TRY(const auto picture, rasterized(view::roof_svg(runs)));
    return replace_file(output.file, picture);
  }
  if (ends_in(output, ".html")) {
    LOFT_TRY(const auto page, view::roof_html(runs, reports.profiles()));
    return replace_file(output.file, page);
  }
  return {};  // a recording was written while the program ran
}

Result<void> write_reports(const Reports& reports, const RoofFlags& flags, Stream stream,
                           Terminal& terminal) {
  const std::span<const model::RoofReport> runs = reports.runs;
  if (is_picture(flags.output)) {
    // What two runs have told is not lost when the disk is full.
    LOFT_CHECK(write_result({}, view::roof_text(runs), stream, terminal));
    return write_picture(reports, flags.output);
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
Result<roof::WorkCounters> counters_at_hand(const RoofFlags& flags, Terminal& terminal) {
  MetricFlags metrics = flags.metrics;
  metrics.machine = flags.machine;
  LOFT_TRY(const auto library, load_metrics(metrics, terminal));
  return roof::WorkCounters::find(library, flags.model == "dram");
}

roof::Target target_of(const RoofFlags& flags) {
  return {.command = flags.command,
          .pids = flags.pids,
          .most_runs = most_runs(flags),
          .keep_going = flags.keep_going,
          .file = ends_in(flags.output, ".data") ? flags.output.file : std::string()};
}

// Nothing where the virtual PMU is to count, or has to.
Result<std::optional<roof::WorkCounters>> choose_counters(const RoofFlags& flags,
                                                          Terminal& terminal) {
  if (flags.source == "virtual") return std::nullopt;
  auto found = counters_at_hand(flags, terminal);
  if (found) return *std::move(found);
  if (!flags.pids.empty() && found.error().kind == ErrorKind::unsupported)
    found.error().hint = "start the program with loft instead: loft roof -- COMMAND";
  if (flags.source == "counters" || flags.model == "dram" || !flags.pids.empty())
    return Failure(std::move(found).error());
  return std::nullopt;
}

Result<int> run_program(const RoofFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto counters, choose_counters(flags, terminal));
  LOFT_TRY(model::Machine machine, machine_at_hand(flags.machine, terminal));
  if (flags.model == "dram") machine = roof::roofs_of_memory(std::move(machine));
  const roof::Target target = target_of(flags);
  auto measured = std::make_unique<roof::Measured>();
  LOFT_TRY(*measured, counters ? roof::measure_by_counters(target, *counters, machine)
                               : roof::measure_twice(target, machine));
  model::RoofReport report = roof::report_of(*measured, machine, wanted_of(flags));
  Reports reports;
  reports.add(std::move(report), std::move(measured));
  LOFT_CHECK(write_reports(reports, flags, Stream::notes, terminal));
  return reports.runs.front().exit_status;
}

Result<int> run_program_once(const RoofFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto machine, machine_at_hand(flags.machine, terminal));
  const roof::Target target = target_of(flags);
  LOFT_TRY(roof::CountedRun run, roof::run_once(target.command, target.file));
  LOFT_CHECK(roof::check_status(run.exit_status, target));
  Reports reports;
  reports.add(roof::report_of(std::move(run), machine, wanted_of(flags)), nullptr);
  LOFT_CHECK(write_reports(reports, flags, Stream::notes, terminal));
  return reports.runs.front().exit_status;
}

Result<void> add_recording(const std::string& path, const RoofFlags& flags, Reports& reports,
                           Terminal& terminal) {
  LOFT_TRY(auto recording, source::Recording::open(path));
  if (roof::is_counted(*recording)) {
    LOFT_TRY(const auto machine, machine_at_hand(flags.machine, terminal));
    LOFT_TRY(auto counted, roof::read_counted(*recording));
    reports.add(roof::report_of(std::move(counted), machine, wanted_of(flags)), nullptr);
    return {};
  }
  LOFT_TRY(roof::KeptRun kept, roof::read_run(*recording));
  if (!flags.machine.empty()) {
    LOFT_TRY(kept.machine, machine::load(flags.machine));
  }
  auto measured = std::make_unique<roof::Measured>();
  LOFT_TRY(measured->native, roof::profile_of(std::move(kept.native), std::move(recording)));
  measured->counted = std::move(kept.counted);
  model::RoofReport report = roof::report_of(*measured, kept.machine, wanted_of(flags));
  reports.add(std::move(report), std::move(measured));
  return {};
}

Result<int> show_recordings(const RoofFlags& flags, Terminal& terminal) {
  Reports reports;
  for (const std::string& path : flags.command) {
    LOFT_CHECK(add_recording(path, flags, reports, terminal));
    if (flags.command.size() > 1)
      reports.runs.back().label = std::filesystem::path(path).stem().string();
  }
  LOFT_CHECK(write_reports(reports, flags, Stream::out, terminal));
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
