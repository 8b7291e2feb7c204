// loft: see your program under its roof. Chooses the subcommand, prints its error, exits.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string_view>
#include <system_error>

#include "base/fault_guard.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"

namespace loft::cli {
namespace {

// In the order in which --help shows them. One line each, so that new commands do not collide.
// clang-format off
constexpr void (*kCommands[])(Command&, Action&) = {
    add_doctor,
    add_list,
    add_event,
    add_evset,
    add_stat,
    add_run,
    add_metric,
    add_power,
    add_machine,
    add_env,
    add_record,
    add_report,
    add_compare,
    add_roof,
    add_annotate,
    add_top,
    add_upc,
    add_completion,
};
// clang-format on

int exit_status(const Error& error) {
  switch (error.kind) {
    case ErrorKind::no_such_command:
      return kNotFound;
    case ErrorKind::cannot_execute:
      return kCannotExecute;
    default:
      return kLoftFailed;
  }
}

std::size_t words_after_dashes(int argc, char** argv) {
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  const auto dashes = std::ranges::find(words, std::string_view("--"));
  return dashes == words.end() ? 0 : static_cast<std::size_t>(words.end() - dashes) - 1;
}

int run(int argc, char** argv) {
  Terminal terminal(stdout, stderr);
  CLI::App app("See your program under its roof: how close it comes to the limits of the machine.",
               "loft");
  app.set_version_flag("--version", std::string("loft ") + LOFT_VERSION);
  app.require_subcommand(1);
  set_help_format(app);

  Action action;
  Command all(&app, words_after_dashes(argc, argv));
  for (const auto add : kCommands) add(all, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    terminal.note("loft: " + printable(error.what()) +
                  "\nTry 'loft --help', or 'loft COMMAND --help'.\n");
    return kLoftFailed;
  }

  const Result<int> status = action(terminal);
  if (!status) {
    terminal.note("loft: " + to_string(status.error()) + "\n");
    (void)terminal.flush();  // the failure is being reported already
    return exit_status(status.error());
  }
  const auto changed = changed_files();
  for (const std::string& file : changed)
    terminal.note("loft: " + to_string(file_changed(file).value()) +
                  "; do not trust this result\n");
  return terminal.flush() && changed.empty() ? *status : kLoftFailed;
}

}  // namespace
}  // namespace loft::cli

// Errors are values; what is thrown all the same, by a library or for want of memory, ends in
// words: here, and where another thread threw it.
static void tell_thrown() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    std::fputs("loft: there is not enough memory for this\n", stderr);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "loft: the system refused: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "loft: this must not happen: %s\nloft: please report it\n", error.what());
  } catch (...) {
    std::fputs("loft: this must not happen\nloft: please report it\n", stderr);
  }
}

int main(int argc, char** argv) {
  std::set_terminate([] {
    if (std::current_exception()) tell_thrown();
    ::_exit(loft::cli::kLoftFailed);
  });
  try {
    return loft::cli::run(argc, argv);
  } catch (...) {
    tell_thrown();
  }
  return loft::cli::kLoftFailed;
}
