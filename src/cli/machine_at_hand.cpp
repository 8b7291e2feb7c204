#include "cli/machine_at_hand.hpp"

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "machine/file.hpp"
#include "machine/measure.hpp"

namespace loft::cli {

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

Result<model::Machine> machine_at_hand(const std::string& path, Terminal& terminal) {
  auto loaded = machine::load(path);
  if (loaded || !path.empty() || loaded.error().kind != ErrorKind::not_found) return loaded;
  terminal.note("this machine's roofs are not known yet: measuring them once, half a minute\n");
  (void)terminal.flush();  // a failure shows again at the end
  LOFT_TRY(const auto identity, machine::this_machine());
  const std::string kept = machine::path_of(identity);
  LOFT_CHECK(machine::may_replace(kept, identity, true));
  LOFT_TRY(const auto measured, measure_machine(false, terminal));
  LOFT_CHECK(replace_file(kept, machine::to_json(measured)));
  terminal.note("machine file: " + printable(kept) + "\n");
  return machine::load();
}

}  // namespace loft::cli
