// loft: see your program under its roof. Chooses the subcommand, prints its error, exits.
#include <signal.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/fault_guard.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"

// Which build this is, where it is not the usual one: defined by what scripts/package links.
extern "C" __attribute__((weak)) const char loft_build[];

namespace loft::cli {
namespace {

std::string version_text() {
  return std::string("loft ") + LOFT_VERSION + " (" +
         (loft_build != nullptr ? loft_build : "dynamic") + ")";
}

// In the order in which --help shows them. One line each, so that new commands do not collide.
// clang-format off
constexpr void (*kCommands[])(Command&, Action&) = {
    add_doctor,
    add_list,
    add_event,
    add_evset,
    add_stat,
    add_run,
    add_call,
    add_metric,
    add_power,
    add_machine,
    add_env,
    add_record,
    add_report,
    add_compare,
    add_check,
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

// "loft help roof" and "loft version" are spelled "loft roof --help" and "loft --version".
std::vector<std::string> spelled_as_flags(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || (words.front() != "help" && words.front() != "version")) return words;
  const std::string flag = "--" + words.front();
  words.erase(words.begin());
  words.push_back(flag);
  return words;
}

// "did you mean 'roof'?" where the first word is no command; empty where it is one.
std::string meant_command(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::ranges::find(names, words.front()) != names.end()) return {};
  const auto close = nearest(words.front(), names, 1);
  const std::string said = "loft: there is no command '" + printable(words.front()) + "'";
  return close.empty() ? said + "\n" : said + "; did you mean '" + close.front() + "'?\n";
}

int run(int argc, char** argv) {
  Terminal terminal(stdout, stderr);
  CLI::App app("See your program under its roof: how close it comes to the limits of the machine.",
               "loft");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  set_help_format(app);

  Action action;
  Command all(&app, words_after_dashes(argc, argv));
  for (const auto add : kCommands) add(all, action);
  add_examples(app);
  std::vector<std::string> words = spelled_as_flags(argc, argv);
  if (const std::string mistake = meant_command(app, words); !mistake.empty()) {
    terminal.note(mistake + "Try 'loft --help', or 'loft COMMAND --help'.\n");
    return kLoftFailed;
  }
  try {
    std::ranges::reverse(words);  // as the parser takes them
    app.parse(std::move(words));
  } catch (const CLI::Success& success) {
    std::ostringstream text;
    const int status = app.exit(success, text, text);
    terminal.print(text.str());
    return terminal.flush() ? status : kLoftFailed;
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

// Ctrl-C while a program runs ends that, and what it did is shown (source/supervisor.hpp). Anywhere
// else it ends loft, with a line that stands in the place of a result: files are whole or not
// there.
static pid_t loft_itself = 0;
extern "C" void tell_interrupted(int signal) {
  constexpr std::string_view kLine = "\r\x1b[Kloft: interrupted before it was done\n";
  constexpr std::size_t kControls = 4;  // clear a line of progress
  const auto shown = ::isatty(STDERR_FILENO) == 1 ? kLine : kLine.substr(kControls);
  // A child that has not become its program yet ends in silence.
  if (::getpid() == loft_itself) (void)!::write(STDERR_FILENO, shown.data(), shown.size());
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

int main(int argc, char** argv) {
  loft_itself = ::getpid();
  // In the background of a script it is ignored, and stays so.
  if (::signal(SIGINT, tell_interrupted) == SIG_IGN) ::signal(SIGINT, SIG_IGN);
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
