#include "cli/metric_library.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machine/file.hpp"
#include "model/machine_constants.hpp"

namespace loft::cli {
namespace {

// Constants of a machine file that was named must be there. Those of this machine are taken where
// it has been measured; a file that cannot be used is worth a note, not the end.
Result<void> add_machine(metric::Library& library, const MetricFlags& flags, Terminal& terminal) {
  const auto loaded = machine::load(flags.machine);
  if (!loaded) {
    if (!flags.machine.empty()) return tl::make_unexpected(loaded.error());
    if (loaded.error().kind != ErrorKind::not_found)
      terminal.note("note: no machine constants: " + to_string(loaded.error()) + "\n");
    return {};
  }
  const std::string file = flags.machine.empty() ? "this machine" : "machine file " + flags.machine;
  for (metric::Constant& constant : model::metric_constants(*loaded, file))
    library.add(std::move(constant), metric::Tier::machine);
  return {};
}

}  // namespace

void add_metric_flags(Command& command, MetricFlags& flags) {
  command.add_option("-m,--metrics", flags.files, "also read metrics from this file or folder")
      ->allow_extra_args(false);
  command.add_option("-D,--define", flags.defines, "set a constant: NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--machine", flags.machine, "take machine constants from this machine file");
}

Result<metric::Library> load_metrics(const MetricFlags& flags, Terminal& terminal) {
  LOFT_TRY(metric::Library library, metric::load_library({flags.files, flags.defines, true, true}));
  LOFT_CHECK(add_machine(library, flags, terminal));
  std::size_t own = 0;
  for (const metric::Diagnostic& diagnostic : library.diagnostics()) {
    if (diagnostic.severity == metric::Severity::note) continue;
    terminal.note(to_string(diagnostic) + "\n");
    const bool named = std::ranges::any_of(flags.files, [&](const std::string& path) {
      return diagnostic.place.file.starts_with(path);
    });
    if (named && diagnostic.severity == metric::Severity::error) ++own;
  }
  if (own > 0)
    return failure(ErrorKind::invalid_input, "use the metric files",
                   fmt::format("{} mistakes are in files named with --metrics", own),
                   "'loft metric check FILE' shows them all");
  return library;
}

}  // namespace loft::cli
