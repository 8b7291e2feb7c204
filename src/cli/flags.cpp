#include "cli/flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>

#include "cli/help.hpp"

namespace loft::cli {
namespace {

Rule rule_of(const CLI::Validator& validator) {
  return {[validator](std::string& value) { return validator(value); },
          validator.get_description()};
}

}  // namespace

Rule one_of(const std::vector<std::string>& words) { return rule_of(CLI::IsMember(words)); }
Rule above_zero() { return rule_of(CLI::PositiveNumber); }
Rule between_numbers(double least, double most) { return rule_of(CLI::Range(least, most)); }
Rule between_integers(long long least, long long most) { return rule_of(CLI::Range(least, most)); }

Option Option::check(const Rule& rule) {
  option_->check(CLI::Validator(rule.problem, rule.description));
  return *this;
}

Option Option::check(std::function<std::string(const std::string&)> problem) {
  option_->check(std::move(problem));
  return *this;
}

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::delimiter(char separator) {
  option_->delimiter(separator);
  return *this;
}

Option Option::allow_extra_args(bool allow) {
  option_->allow_extra_args(allow);
  return *this;
}

Option Option::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Option Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::hide() {
  option_->group(kOldSpellings);
  return *this;
}

Command Command::add_subcommand(const std::string& name, const std::string& description) {
  return Command(app_->add_subcommand(name, description), words_after_dashes_);
}

template <class T>
Option Command::add_option(const std::string& names, T& value, const std::string& description) {
  return Option(app_->add_option(names, value, description));
}

template <class T>
Option Command::add_flag(const std::string& names, T& value, const std::string& description) {
  return Option(app_->add_flag(names, value, description));
}

template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, unsigned&, const std::string&);
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::uint32_t>&,
                                    const std::string&);
template Option Command::add_flag(const std::string&, bool&, const std::string&);
template Option Command::add_flag(const std::string&, std::string&, const std::string&);

void Command::callback(std::function<void()> chosen) { app_->callback(std::move(chosen)); }
void Command::require_subcommand(int count) { app_->require_subcommand(count); }
void Command::positionals_at_end() { app_->positionals_at_end(); }
bool Command::has_chosen_subcommand() const { return !app_->get_subcommands().empty(); }

std::vector<std::string> take_after_dashes(std::vector<std::string>& words,
                                           std::size_t words_after_dashes) {
  const auto count = std::min(words_after_dashes, words.size());
  const auto first = words.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<std::string> taken(first, words.end());
  words.erase(first, words.end());
  if (!words.empty() && words.back() == "--") words.pop_back();  // kept behind another positional
  return taken;
}

}  // namespace loft::cli
