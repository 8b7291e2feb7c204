// loft call: every call of the functions that match a pattern, counted one by one.
#include <fmt/format.h>

#include <memory>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "source/virtual/calls.hpp"
#include "view/calls.hpp"

namespace loft::cli {
namespace {

struct CallFlags {
  std::string pattern;
  std::string dso;
  std::vector<std::string> events;
  std::string longer;
  std::uint32_t depth = 0;
  std::size_t rows = 20;
  std::string tables;
  std::string source = "auto";
  std::vector<std::string> command;
  OutputFlags output;
};

Failure usage(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "watch calls", std::move(why), std::move(hint));
}

// "10us", "1.5ms"; nothing but a number is nanoseconds.
Result<Nanoseconds> parse_duration(const std::string& text) {
  const auto unit = text.find_first_not_of("0123456789.");
  const std::string name = unit == std::string::npos ? "ns" : text.substr(unit);
  const auto number = parse_double(text.substr(0, unit));
  for (const auto& [known, factor] :
       {std::pair{"ns", 1.0}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}})
    if (number && name == known)
      return Nanoseconds(static_cast<Nanoseconds::rep>(*number * factor));
  return usage("'" + text + "' is no duration", "write it as 10us, 1.5ms or 2s");
}

// At commas, but for those between brackets, which are parts of a name: pair<int, long>::swap.
std::vector<std::string> split_patterns(const std::string& text) {
  std::vector<std::string> patterns(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ',' && depth == 0)
      patterns.emplace_back();
    else
      patterns.back() += c;
  }
  return patterns;
}

view::CallTables tables_of(const std::string& word) {
  if (word == "functions") return view::CallTables::functions;
  if (word == "slowest") return view::CallTables::slowest;
  if (word == "tree") return view::CallTables::tree;
  if (word == "list") return view::CallTables::list;
  return view::CallTables::all;
}

Result<sample::CallRequest> make_request(const CallFlags& flags) {
  sample::CallRequest request;
  request.patterns = split_patterns(flags.pattern);
  request.dso = flags.dso;
  for (const std::string& list : flags.events)
    for (const auto name : split(list, ',')) request.events.emplace_back(name);
  if (!flags.longer.empty()) {
    LOFT_TRY(request.longer, parse_duration(flags.longer));
  }
  request.depth = flags.depth;
  request.keeps_calls = !flags.longer.empty() || flags.depth != 0 || flags.tables == "list";
  return request;
}

// Nothing was watched: the usual reasons.
Result<void> check_found(const sample::CallRun& run, const CallFlags& flags) {
  if (!run.functions.empty()) return {};
  return failure(ErrorKind::not_found, "watch calls of '" + flags.pattern + "'",
                 flags.dso.empty() ? "no function of the program has such a name"
                                   : "no function of '" + flags.dso + "' has such a name",
                 "it may be inlined everywhere, or the binary stripped; put the pattern in quotes, "
                 "and try '*name*'");
}

Result<int> run_call(const CallFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  if (flags.command.empty())
    return usage("there is no program to run", "as in: loft call 'solve*' -- ./app");
  LOFT_TRY(const sample::CallRequest request, make_request(flags));
  LOFT_TRY(const sample::CallRun run, source::virtual_pmu::count_calls(request, flags.command));
  LOFT_CHECK(check_found(run, flags));
  const view::CallViewOptions options{tables_of(flags.tables), flags.rows};
  const std::string text = format == Format::json  ? view::calls_json(run)
                           : format == Format::csv ? view::calls_csv(run, options)
                                                   : view::calls_text(run, options);
  LOFT_CHECK(write_result(flags.output, text, Stream::notes, terminal));
  return run.end.shell_status();
}

}  // namespace

void add_call(Command& app, Action& action) {
  auto flags = std::make_shared<CallFlags>();
  auto command =
      app.add_subcommand("call", "Count each call of the functions that match a pattern");
  command->add_option("--dso", flags->dso, "only functions of binaries with such a name: 'libm*'");
  command
      ->add_option("-e,--event", flags->events,
                   "events counted per call, comma-separated (virtual: up to 4; instructions)")
      ->allow_extra_args(false);
  command->add_option("--longer", flags->longer, "keep single calls that took as long: 10us");
  command->add_option("--depth", flags->depth, "keep single calls with fewer watched ones around");
  command->add_option("--show", flags->tables, "one table: functions, slowest, tree or list")
      ->check(one_of({"functions", "slowest", "tree", "list"}));
  command->add_option("--top", flags->rows, "rows of each table (20)");
  command->add_option("--source", flags->source, "who counts: auto, virtual")
      ->check(one_of({"auto", "virtual"}));
  add_output_flags(*command, flags->output);
  command->add_option("pattern", flags->pattern, "functions: 'solve*'; several with commas")
      ->required();
  command->add_option("command", flags->command, "the program and its arguments, after --");
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_call(*flags, terminal); };
  });
}

}  // namespace loft::cli
