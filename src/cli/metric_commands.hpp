// The parts of `loft metric`: each adds itself below the command.
#pragma once

#include <string>
#include <vector>

#include "base/text.hpp"
#include "cli/command.hpp"

namespace loft::cli {

// Names of metrics as arguments give them: one each, or several with commas.
inline std::vector<std::string> split_names(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const std::string& argument : arguments)
    for (const std::string_view name : split(argument, ',')) names.emplace_back(name);
  return names;
}

void add_metric_check(Command& metric, Action& action);
void add_metric_convert(Command& metric, Action& action);
void add_metric_list(Command& metric, Action& action);
void add_metric_show(Command& metric, Action& action);
void add_metric_plan(Command& metric, Action& action);
void add_metric_eval(Command& metric, Action& action);

}  // namespace loft::cli
