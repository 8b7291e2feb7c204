// loft run: run a program with loft's libraries in front of the system's.
#include <cstdlib>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "event/resolver.hpp"
#include "source/choice/count.hpp"
#include "source/virtual/libraries.hpp"

namespace loft::cli {
namespace {

struct RunFlags {
  bool papi = false;
  std::vector<std::string> command;
};

// The program's counts are its own business; one event is counted so that it runs under the engine.
Result<int> run_program(const RunFlags& flags, Terminal& terminal) {
  if (flags.command.empty())
    return failure(ErrorKind::invalid_input, "run", "there is no program to run",
                   "write it after --, as in: loft run --papi -- ./app");
  if (!flags.papi)
    return failure(ErrorKind::invalid_input, "run", "no library was chosen",
                   "give --papi for programs that use PAPI");
  LOFT_TRY(const auto library, source::virtual_pmu::Preload::papi());
  event::Resolver resolver(source::known_names(event::PlainNames::virtual_first));
  source::CountRequest request;
  LOFT_TRY(request.events, resolver.resolve_list("instructions"));
  request.command = flags.command;
  std::optional<Error> incomplete;
  source::CountOptions options;
  options.only = sample::Source::virtual_pmu;
  options.on_incomplete = [&](const Error& why) { incomplete = why; };
  LOFT_TRY(const auto run, source::count(request, options));
  for (const std::string& note : run.notes) terminal.note("loft: " + printable(note) + "\n");
  if (incomplete) return Failure(*incomplete);
  return run.exit_status;
}

}  // namespace

void add_run(Command& app, Action& action) {
  auto flags = std::make_shared<RunFlags>();
  auto command =
      app.add_subcommand("run", "Run a program under the virtual PMU with loft's libraries");
  command->add_flag("--papi", flags->papi, "loft's libpapi in front of the system's");
  command->add_option("command", flags->command, "the program and its arguments, after --");
  command->positionals_at_end();
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_program(*flags, terminal); };
  });
}

}  // namespace loft::cli
