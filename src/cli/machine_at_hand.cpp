#include "cli/machine_at_hand.hpp"

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "machine/file.hpp"
#include "machine/measure.hpp"
#include "model/machine_merge.hpp"

namespace loft::cli {
namespace {

void tell_changes(const model::Machine& measured, Terminal& terminal) {
  const auto now = machine::describe_machine();
  if (!now) return;
  const auto changes = model::changes_since(measured.system, now->system);
  if (!changes.empty())
    terminal.note(fmt::format(
        "the roofs are of {}, and this machine has changed since: {}; 'loft machine' measures it "
        "again\n",
        printable(measured.when), printable(join(changes, "; "))));
}

}  // namespace

Result<model::Machine> measure_machine(bool full, Terminal& terminal) {
  machine::MeasureOptions options;
  options.full = full;
  if (terminal.notes_is_terminal())
    options.progress = [&terminal, last = std::string()](double share,
                                                         std::string_view doing) mutable {
      std::string line = fmt::format("\r{:3.0f} % {:<32}", share * 100, doing);
      if (line == last) return;
      last = line;
      terminal.note(line);
      (void)terminal.flush();  // a failure shows again at the end
    };
  LOFT_TRY(auto measured, machine::measure(options));
  if (terminal.notes_is_terminal()) terminal.note(fmt::format("\r{:48}\r", ""));
  return measured;
}

Result<model::Machine> keep_machine(const std::string& path, model::Machine measured,
                                    Terminal& terminal) {
  if (file_exists(path)) {
    LOFT_TRY(const auto old, machine::read(path));
    const auto changes = model::changes_since(old.system, measured.system);
    if (changes.empty()) {
      model::Merged merged = model::merge(old, std::move(measured));
      terminal.note(model::in_words(merged, printable(old.when)));
      measured = std::move(merged.machine);
    } else {
      terminal.note(fmt::format("the measurement of {} is replaced: {}\n", printable(old.when),
                                printable(join(changes, "; "))));
    }
  }
  LOFT_CHECK(replace_file(path, machine::to_json(measured)));
  return measured;
}

Result<model::Machine> machine_at_hand(const std::string& path, Terminal& terminal) {
  auto loaded = machine::load(path);
  if (loaded && path.empty()) tell_changes(*loaded, terminal);
  if (loaded || !path.empty() || loaded.error().kind != ErrorKind::not_found) return loaded;
  terminal.note("this machine's roofs are not known yet: measuring them once, half a minute\n");
  (void)terminal.flush();  // a failure shows again at the end
  LOFT_TRY(const auto identity, machine::this_machine());
  const std::string kept = machine::path_of(identity);
  LOFT_CHECK(machine::may_replace(kept, identity, true));
  LOFT_TRY(auto measured, measure_machine(false, terminal));
  LOFT_CHECK(keep_machine(kept, std::move(measured), terminal));
  terminal.note("machine file: " + printable(kept) + "\n");
  return machine::load();
}

}  // namespace loft::cli
