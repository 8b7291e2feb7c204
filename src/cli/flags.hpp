// What a command takes on its line, described without the weight of the parser: CLI11 is compiled
// once, in flags.cpp, instead of in every command.
//
//   auto command = app.add_subcommand("stat", "Run a program and count");
//   command->add_option("--by", flags->by, "also show each ...")->check(one_of({"function"}));
//   command->add_flag("--per-core", flags->per_core, "also show each CPU");
//   command->callback([=, &action] { ... });
//
// Both classes are handles: copies mean the same command, the same option.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace loft::cli {

// What a value must be: gives the empty text when it is, else what is wrong.
struct Rule {
  std::function<std::string(std::string&)> problem;
  std::string description;  // for --help
};
[[nodiscard]] Rule one_of(const std::vector<std::string>& words);
[[nodiscard]] Rule above_zero();
[[nodiscard]] Rule between_numbers(double least, double most);
[[nodiscard]] Rule between_integers(long long least, long long most);

template <class T>
[[nodiscard]] Rule between(T least, T most) {
  if constexpr (std::is_integral_v<T>)
    return between_integers(static_cast<long long>(least), static_cast<long long>(most));
  else
    return between_numbers(least, most);
}

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option* operator->() { return this; }

  Option check(const Rule& rule);
  Option check(std::function<std::string(const std::string&)> problem);
  Option required();
  Option delimiter(char separator);
  Option allow_extra_args(bool allow);  // false: one value each time it is given
  Option capture_default_str();         // shows the value that is there now as the default
  Option excludes(Option other);
  Option hide();  // understood, but in no help: an old spelling

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app, std::size_t words_after_dashes = 0)
      : app_(app), words_after_dashes_(words_after_dashes) {}
  Command* operator->() { return this; }
  const Command* operator->() const { return this; }
  Command& operator*() { return *this; }

  Command add_subcommand(const std::string& name, const std::string& description);

  // For the types that flags.cpp lists.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& description);
  template <class T>
  Option add_flag(const std::string& names, T& value, const std::string& description);

  void callback(std::function<void()> chosen);
  void require_subcommand(int count);
  void positionals_at_end();
  [[nodiscard]] bool has_chosen_subcommand() const;

  // How many of the words of the command line stand after "--": the last positional arguments.
  [[nodiscard]] std::size_t words_after_dashes() const { return words_after_dashes_; }

  // The parser's own, for who walks through all flags.
  [[nodiscard]] const CLI::App& parser() const { return *app_; }

 private:
  CLI::App* app_;
  std::size_t words_after_dashes_ = 0;
};

// Of positional arguments those that stood after "--", which are taken out of `words`.
[[nodiscard]] std::vector<std::string> take_after_dashes(std::vector<std::string>& words,
                                                         std::size_t words_after_dashes);

}  // namespace loft::cli
