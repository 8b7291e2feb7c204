// The parts of `loft metric`: each adds itself below the command.
#pragma once

#include "cli/command.hpp"

namespace loft::cli {

void add_metric_check(Command& metric, Action& action);
void add_metric_convert(Command& metric, Action& action);
void add_metric_list(Command& metric, Action& action);
void add_metric_show(Command& metric, Action& action);
void add_metric_plan(Command& metric, Action& action);
void add_metric_eval(Command& metric, Action& action);

}  // namespace loft::cli
