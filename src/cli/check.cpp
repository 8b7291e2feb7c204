// loft check: run a program, and fail when it takes more than its budget.
#include <sys/personality.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/command.hpp"
#include "cli/counts_at_hand.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "cli/source_flag.hpp"
#include "metric/request.hpp"
#include "metric/run_budgets.hpp"
#include "roof/repeat_streams.hpp"
#include "source/choice/count.hpp"
#include "source/repeat.hpp"
#include "view/budgets.hpp"
#include "view/stat.hpp"

namespace loft::cli {
namespace {

struct CheckFlags {
  std::vector<std::string> most;   // --max
  std::vector<std::string> least;  // --min
  std::vector<std::string> base;   // what stands before "--": one file, or none
  std::vector<std::string> command;
  bool update = false;
  unsigned runs = 1;
  SourceFlag source;
  MetricFlags metrics;
  OutputFlags output;
};

const std::vector<Output<view::CheckedBudgets>> kOutputs{
    {{"text", {".txt"}}, whole<view::budgets_text>},
    {{"json", {".json"}}, whole<view::budgets_json>},
    {{"junit", {".xml"}}, whole<view::budgets_junit>}};

Failure usage(std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, "check", std::move(why), std::move(hint));
}

Result<std::vector<metric::Budget>> read_budgets(const CheckFlags& flags) {
  std::vector<metric::Budget> budgets;
  for (const std::string& text : flags.most) {
    LOFT_TRY(auto budget, metric::parse_budget(text, metric::Side::most));
    budgets.push_back(std::move(budget));
  }
  for (const std::string& text : flags.least) {
    LOFT_TRY(auto budget, metric::parse_budget(text, metric::Side::least));
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

Result<void> check(const CheckFlags& flags, const std::vector<metric::Budget>& budgets) {
  if (flags.command.empty())
    return usage("there is no program to run", "give one after --: loft check BASE -- ./app");
  if (budgets.empty())
    return usage("there is no budget", "give one, such as --max 'instructions=+1%'");
  if (flags.base.size() > 1)
    return usage("more than one base was given", "give one file before --, the program after it");
  const bool needs_base = std::ranges::any_of(budgets, &metric::Budget::needs_base);
  if (flags.base.empty() && (needs_base || flags.update))
    return usage(flags.update ? "there is no file to update" : "a budget is against a base",
                 "name the file before --; --update writes it");
  return {};
}

// Names of the virtual PMU first: what it counts repeats to the instruction.
event::PlainNames plain_names(const CheckFlags& flags) {
  return flags.source.asked() == sample::Source::perf_events ? event::PlainNames::never_virtual
                                                             : event::PlainNames::virtual_first;
}

// What the budgets need, and the program's own time where one of them does.
Result<metric::Request> read_names(const CheckFlags& flags,
                                   const std::vector<metric::Budget>& budgets, Terminal& terminal) {
  event::Resolver resolver(source::known_names(plain_names(flags)));
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  LOFT_TRY(auto request, metric::read_request(metric::names_to_count(budgets), resolver, library));
  const bool has_native = std::ranges::any_of(request.events, [](const event::Event& event) {
    return event.uncountable.empty() && !event.encoding.is_virtual();
  });
  if (request.events.empty() || (metric::needs_time(budgets, request) && !has_native)) {
    LOFT_TRY(auto clock, resolver.resolve("task-clock"));
    request.events.push_back(std::move(clock));
  }
  return request;
}

// What depends on addresses then repeats. Programs inherit it.
void hold_addresses(Terminal& terminal) {
  constexpr unsigned long kAsk = 0xffffffff;
  const int now = ::personality(kAsk);
  if (now == -1 || ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) == -1)
    terminal.note("note: addresses stay randomized here, counts may vary with them\n");
}

Result<sample::RunCounts> count(const CheckFlags& flags, const metric::Request& names) {
  source::CountRequest request;
  request.events = names.events;
  request.command = flags.command;
  source::CountOptions options;
  options.only = flags.source.asked();
  options.streams = roof::streams_of_two_runs();
  return source::count_repeatedly(request, {.runs = flags.runs},
                                  [&](const auto& part) { return source::count(part, options); },
                                  {});
}

int status_of(const view::CheckedBudgets& checked) {
  const auto has = [&](metric::Outcome outcome) {
    return std::ranges::find(checked.verdicts, outcome, &metric::Verdict::outcome) !=
           checked.verdicts.end();
  };
  if (has(metric::Outcome::broken)) return 1;
  return has(metric::Outcome::unknown) ? kLoftFailed : 0;
}

Result<int> run_check(const CheckFlags& flags, Terminal& terminal) {
  LOFT_TRY(const auto* output, choose_output(kOutputs, flags.output));
  LOFT_TRY(const auto budgets, read_budgets(flags));
  LOFT_CHECK(check(flags, budgets));
  metric::CountsFile base;
  if (!flags.update && !flags.base.empty()) {
    LOFT_TRY(base, read_counts_of(flags.base.front(), terminal));
  }
  LOFT_TRY(const metric::Request names, read_names(flags, budgets, terminal));
  hold_addresses(terminal);
  const auto start = std::chrono::steady_clock::now();
  LOFT_TRY(const sample::RunCounts run, count(flags, names));
  const metric::RunMetrics metrics = metric::evaluate_run(names, run);
  if (run.exit_status != 0) {
    terminal.note("loft: the program failed; nothing was checked\n");
    return run.exit_status;
  }
  if (flags.update) {
    OutputFlags file{.format = "json", .file = flags.base.front()};
    LOFT_CHECK(write_result(file, view::stat_json(run, metrics), Stream::notes, terminal));
    terminal.note("loft: " + flags.base.front() + " has the new base\n");
    return 0;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const view::CheckedBudgets checked{run.target, took.count(),
                                     metric::hold_all(budgets, names, run, metrics, &base.total)};
  LOFT_CHECK(write_output(*output, checked, flags.output, Stream::notes, terminal));
  return status_of(checked);
}

}  // namespace

void add_check(Command& app, Action& action) {
  auto flags = std::make_shared<CheckFlags>();
  auto command =
      app.add_subcommand("check", "Run a program, and fail when it takes more than its budget");
  command
      ->add_option("--max", flags->most,
                   "NAME=AMOUNT: at most so much of an event or metric, or of time; +1% or +1000: "
                   "more than BASE has")
      ->allow_extra_args(false);
  command
      ->add_option("--min", flags->least,
                   "NAME=AMOUNT: at least so much; -5% or -1000: less than BASE has")
      ->allow_extra_args(false);
  command->add_flag("--update", flags->update, "write BASE anew from this run");
  command
      ->add_option("-r,--repeat,--runs", flags->runs,
                   "run the program so often, and check the mean")
      ->check(between(1U, 10000U));
  add_source_flag(*command, flags->source,
                  "who counts (default: the virtual PMU what it can, exactly)");
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output, forms_of(kOutputs));
  command->add_option("command", flags->base,
                      "BASE, what loft stat or --update wrote, or a recording; then -- and the "
                      "program with its arguments");
  command->positionals_at_end();
  const std::size_t after = command->words_after_dashes();
  command->callback([flags, after, &action] {
    flags->command = take_after_dashes(flags->base, after);
    action = [flags](Terminal& terminal) { return run_check(*flags, terminal); };
  });
}

}  // namespace loft::cli
