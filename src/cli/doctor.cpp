// loft doctor: what can be measured on this machine, what cannot, why, and what mends it.
#include <memory>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "source/checks/checks.hpp"
#include "view/checks.hpp"

namespace loft::cli {
namespace {

Result<int> run_doctor(const OutputFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags));
  const std::vector<Check> checks = source::checks::all();
  const bool colour = terminal.may_colour() && flags.file.empty();
  const std::string text = format == Format::json  ? view::checks_json(checks)
                           : format == Format::csv ? view::checks_csv(checks)
                                                   : view::checks_text(checks, colour);
  LOFT_CHECK(write_result(flags, text, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_doctor(Command& app, Action& action) {
  auto flags = std::make_shared<OutputFlags>();
  auto command =
      app.add_subcommand("doctor", "Say what can be measured here, what cannot, why, and the fix");
  add_output_flags(*command, *flags);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_doctor(*flags, terminal); };
  });
}

}  // namespace loft::cli
