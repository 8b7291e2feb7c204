// loft machine: measure the roofs, latencies and constants of this machine, once.
#include <fmt/format.h>

#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/machine_at_hand.hpp"
#include "cli/output.hpp"
#include "machine/file.hpp"
#include "machine/measure.hpp"
#include "machine/overrides.hpp"
#include "model/roofline.hpp"
#include "view/machine.hpp"
#include "view/roofline_svg.hpp"

namespace loft::cli {
namespace {

struct MachineFlags {
  bool full = false;
  bool all = false;
  int threads = 0;
  std::string precision = "dp";
  std::string first;
  std::string second;
  OutputFlags output;
};

struct Shown {
  const model::Machine& machine;
  const MachineFlags& flags;
};

std::string text(const Shown& shown) { return view::machine_text(shown.machine, shown.flags.all); }
std::string json(const Shown& shown) { return machine::to_json(shown.machine); }
std::string csv(const Shown& shown) { return view::machine_csv(shown.machine); }
std::string svg(const Shown& shown) {
  model::RooflineChoice choice;
  choice.threads = shown.flags.threads > 0 ? shown.flags.threads
                                           : static_cast<int>(shown.machine.topology.cpus.size());
  choice.precision = shown.flags.precision;
  return view::roofline_svg(model::roofline_of(shown.machine, choice));
}

// What a form needs.
constexpr unsigned kBesideText = 1;     // the text is shown on the terminal as well
constexpr unsigned kIsMachineFile = 2;  // what `loft machine` measured goes there instead of to the
                                        // cache

const std::vector<Output<Shown>> kOutputs{
    {{"text", {".txt"}}, whole<text>},
    {{"json", {".json"}, kIsMachineFile}, whole<json>},
    {{"csv", {".csv"}}, whole<csv>},
    {{"svg", {".svg"}, kBesideText}, whole<svg>},
};

Result<void> show(const model::Machine& machine, const MachineFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  const Shown shown{machine, flags};
  LOFT_CHECK(write_output(*output, shown, flags.output, Stream::out, terminal));
  if ((output->needs & kBesideText) != 0 && !flags.output.file.empty()) terminal.print(text(shown));
  return {};
}

// A machine file of -o goes there instead of to the cache.
Result<std::string> file_to_write(const MachineFlags& flags) {
  LOFT_TRY(const auto identity, machine::this_machine());
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  const bool elsewhere = (output->needs & kIsMachineFile) != 0 && !flags.output.file.empty();
  const std::string path = elsewhere ? flags.output.file : machine::path_of(identity);
  LOFT_CHECK(machine::may_replace(path, identity, !elsewhere));
  return path;
}

// More threads than there are CPUs have no roofs.
Result<void> check_threads(const MachineFlags& flags, const model::Machine& machine) {
  const std::size_t cpus = machine.topology.cpus.size();
  if (cpus == 0 || flags.threads <= static_cast<int>(cpus)) return {};
  return failure(ErrorKind::invalid_input,
                 fmt::format("draw the roofs of {} threads", flags.threads),
                 fmt::format("the machine has {} CPU{}", cpus, cpus == 1 ? "" : "s"),
                 fmt::format("give --threads {} at most, or leave it out", cpus));
}

Result<int> run_measure(const MachineFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto here, machine::describe_machine());
  LOFT_CHECK(check_threads(flags, here));
  LOFT_TRY(const auto path, file_to_write(flags));
  LOFT_TRY(auto measured, measure_machine(flags.full, terminal));
  // A file that was asked for by name holds this measurement alone.
  if (path == flags.output.file) {
    LOFT_CHECK(replace_file(path, machine::to_json(measured)));
  } else {
    LOFT_TRY(measured, keep_machine(path, std::move(measured), terminal));
  }
  LOFT_TRY(const auto overrides, machine::read_overrides(machine::overrides_path()));
  machine::apply(overrides, measured);
  if (path == flags.output.file)
    terminal.print(view::machine_text(measured, flags.all));
  else
    LOFT_CHECK(show(measured, flags, terminal));
  terminal.note("machine file: " + printable(path) + "\n");
  return 0;
}

Result<int> run_show(const MachineFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto loaded, machine::load(flags.first));
  LOFT_CHECK(check_threads(flags, loaded));
  LOFT_CHECK(show(loaded, flags, terminal));
  return 0;
}

Result<int> run_compare(const MachineFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto first, machine::read(flags.first));
  LOFT_TRY(const auto second, machine::read(flags.second));
  LOFT_TRY(const Format format, choose_format(flags.output));
  if (format == Format::csv)
    return failure(ErrorKind::invalid_input, "compare machines as CSV",
                   "this comparison is text or JSON", "use --format json");
  const std::string text = format == Format::json ? view::comparison_json(first, second)
                                                  : view::comparison_text(first, second);
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return 0;
}

void add_drawing_flags(Command& command, MachineFlags& flags) {
  command.add_flag("--all", flags.all, "show the roofs of all instruction widths");
  command
      .add_option("-t,--threads", flags.threads, "draw the roofs of so many threads (default: all)")
      ->check(between(1, 65536));
  command.add_option("--precision", flags.precision, "draw the roofs of sp or dp (default: dp)")
      ->check(one_of({"sp", "dp"}));
  add_output_flags(command, flags.output, forms_of(kOutputs));
}

}  // namespace

void add_machine(Command& app, Action& action) {
  auto flags = std::make_shared<MachineFlags>();
  auto command = app.add_subcommand("machine", "Measure the roofs and latencies of this machine");
  command->add_flag("--full", flags->full, "all widths at all thread counts, some minutes");
  add_drawing_flags(*command, *flags);

  auto show_command = command->add_subcommand("show", "Show what was measured");
  show_command->add_option("file", flags->first, "a machine file (default: of this machine)");
  add_drawing_flags(*show_command, *flags);
  show_command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_show(*flags, terminal); };
  });

  auto compare_command = command->add_subcommand("compare", "Compare two machine files");
  compare_command->add_option("first", flags->first, "a machine file")->required();
  compare_command->add_option("second", flags->second, "another")->required();
  add_output_flags(*compare_command, flags->output);
  compare_command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_compare(*flags, terminal); };
  });

  command->callback([command, flags, &action] {
    if (command->has_chosen_subcommand()) return;
    action = [flags](Terminal& terminal) { return run_measure(*flags, terminal); };
  });
}

}  // namespace loft::cli
