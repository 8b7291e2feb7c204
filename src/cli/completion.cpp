#include "cli/completion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"

namespace loft::cli {
namespace {

struct Flag {
  std::string name;  // with its dashes
  std::string description;
};

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group() == kOldSpellings) continue;
    for (const std::string& name : option->get_lnames())
      flags.push_back({"--" + name, option->get_description()});
    for (const std::string& name : option->get_snames())
      flags.push_back({"-" + name, option->get_description()});
  }
  return flags;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string names_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command : subcommands_of(app)) words.push_back(command->get_name());
  for (const Flag& flag : flags_of(app)) words.push_back(flag.name);
  return join(words, " ");
}

// Inside single quotes, for sh, zsh and fish alike.
std::string in_quotes(std::string text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string bash_script(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* command : subcommands_of(app)) {
    cases +=
        fmt::format("    {}) words={} ;;\n", command->get_name(), in_quotes(names_of(*command)));
  }
  return fmt::format(
      "_loft() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words={} i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    if [[ ${{COMP_WORDS[i]}} == -- ]]; then COMPREPLY=($(compgen -c -f -- \"$current\")); "
      "return; fi\n"
      "  done\n"
      "  if ((COMP_CWORD > 1)); then case ${{COMP_WORDS[1]}} in\n{}"
      "  esac; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}}\n"
      "complete -o default -F _loft loft\n",
      in_quotes(names_of(app)), cases);
}

// What _arguments and _describe take: brackets and colons are their own syntax.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_script(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : subcommands_of(app)) {
    commands +=
        "    " + in_quotes(command->get_name() + ":" + zsh_text(command->get_description())) + "\n";
    std::string arguments;
    for (const Flag& flag : flags_of(*command))
      arguments += " " + in_quotes(flag.name + "[" + zsh_text(flag.description) + "]");
    cases +=
        fmt::format("    {}) _arguments{} '*:file:_files' ;;\n", command->get_name(), arguments);
  }
  return fmt::format(
      "#compdef loft\n"
      "_loft() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
      "  case $words[2] in\n{}  esac\n"
      "}}\n"
      "_loft \"$@\"\n",
      commands, cases);
}

std::string fish_script(const CLI::App& app) {
  std::string lines;
  for (const CLI::App* command : subcommands_of(app)) {
    lines += fmt::format("complete -c loft -n __fish_use_subcommand -f -a {} -d {}\n",
                         command->get_name(), in_quotes(command->get_description()));
    for (const Flag& flag : flags_of(*command)) {
      const bool is_long = flag.name.starts_with("--");
      lines += fmt::format("complete -c loft -n '__fish_seen_subcommand_from {}' {} {} -d {}\n",
                           command->get_name(), is_long ? "-l" : "-s",
                           flag.name.substr(is_long ? 2 : 1), in_quotes(flag.description));
    }
  }
  return lines;
}

}  // namespace

Result<std::string> completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  return failure(ErrorKind::invalid_input, "write completions for '" + shell + "'",
                 "only bash, zsh and fish are known");
}

void add_completion(Command& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  auto command = app.add_subcommand("completion", "Print shell completions");
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  command->callback([app, &action, shell] {
    action = [app, shell](Terminal& terminal) -> Result<int> {
      LOFT_TRY(const auto script, completion_script(app.parser(), *shell));
      terminal.set_folding(false);
      terminal.print(script);
      return 0;
    };
  });
}

}  // namespace loft::cli
