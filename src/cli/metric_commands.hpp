// The parts of `loft metric`: each adds itself below the command.
#pragma once

#include "cli/command.hpp"

namespace loft::cli {

void add_metric_check(CLI::App& metric, Action& action);
void add_metric_convert(CLI::App& metric, Action& action);
void add_metric_list(CLI::App& metric, Action& action);
void add_metric_show(CLI::App& metric, Action& action);
void add_metric_plan(CLI::App& metric, Action& action);
void add_metric_eval(CLI::App& metric, Action& action);

}  // namespace loft::cli
