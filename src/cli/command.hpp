// A subcommand is one file: it describes its flags and leaves an action behind when it is chosen.
//
//   void add_stat(Command& app, Action& action) {
//     auto flags = std::make_shared<StatFlags>();
//     auto command = app.add_subcommand("stat", "Run a program and count");
//     command->add_option("-e,--event", flags->events, "...");
//     command->callback([=, &action] {
//       action = [flags](Terminal& terminal) { return run_stat(*flags, terminal); };
//     });
//   }
#pragma once

#include <functional>

#include "base/result.hpp"
#include "cli/flags.hpp"
#include "cli/terminal.hpp"

namespace loft::cli {

// Runs the chosen command; its value is the exit status.
using Action = std::function<Result<int>(Terminal&)>;

// Exit statuses of loft itself; below 125 they are the program's.
inline constexpr int kLoftFailed = 125;
inline constexpr int kCannotExecute = 126;
inline constexpr int kNotFound = 127;

void add_annotate(Command& app, Action& action);
void add_call(Command& app, Action& action);
void add_check(Command& app, Action& action);
void add_completion(Command& app, Action& action);
void add_compare(Command& app, Action& action);
void add_doctor(Command& app, Action& action);
void add_env(Command& app, Action& action);
void add_event(Command& app, Action& action);
void add_evset(Command& app, Action& action);
void add_list(Command& app, Action& action);
void add_metric(Command& app, Action& action);
void add_power(Command& app, Action& action);
void add_machine(Command& app, Action& action);
void add_record(Command& app, Action& action);
void add_report(Command& app, Action& action);
void add_roof(Command& app, Action& action);
void add_run(Command& app, Action& action);
void add_stat(Command& app, Action& action);
void add_top(Command& app, Action& action);
void add_upc(Command& app, Action& action);

}  // namespace loft::cli
