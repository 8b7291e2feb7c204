// Measures the machine that this runs on.
//
//   MeasureOptions options;
//   options.progress = [](double share, std::string_view doing) { ... };
//   LOFT_TRY(const model::Machine machine, measure(options));
//
// All trials are prepared first and then take turns in rounds, so that the windows of each are
// spread over the whole run: a neighbour that is busy for a second spoils a few windows of all,
// not all windows of a few.
#pragma once

#include <functional>
#include <string_view>

#include "base/cpu_set.hpp"
#include "base/places.hpp"
#include "base/result.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

struct MeasureOptions {
  bool full = false;
  std::function<void(double share, std::string_view doing)> progress;
  SystemRoot root;
};

[[nodiscard]] Result<model::Machine> measure(const MeasureOptions& options);

// This machine as far as that is known without measuring: its key, its CPUs, what it runs.
[[nodiscard]] Result<model::Machine> describe_machine(const SystemRoot& root = {});

// The key of this machine's file, without measuring anything.
[[nodiscard]] Result<std::string> this_machine(const SystemRoot& root = {});

}  // namespace loft::machine
