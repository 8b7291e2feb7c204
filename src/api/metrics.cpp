#include "api/metrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <mutex>

#include "machine/file.hpp"
#include "metric/load.hpp"
#include "model/machine_constants.hpp"

namespace loft::api {
namespace {

// What the process asked for, kept for handles that are opened later.
struct Added {
  std::mutex mutex;
  metric::LoadOptions options;
  std::deque<std::string> names;  // of the files; what was told of them stays
};

Added& added() {
  static Added added;
  return added;
}

}  // namespace

Result<metric::Library> known_metrics() {
  metric::LoadOptions options;
  {
    const std::scoped_lock lock(added().mutex);
    options = added().options;
  }
  LOFT_TRY(metric::Library library, metric::load_library(options));
  // A machine that was not measured has no constants; metrics that need some say so.
  if (const auto machine = machine::load())
    for (metric::Constant& constant : model::metric_constants(*machine, "this machine"))
      library.add(std::move(constant), metric::Tier::machine);
  return library;
}

Result<void> load_metrics(const std::string& path) {
  metric::Library library;
  metric::load_path(library, path, metric::Tier::command);
  for (const metric::Diagnostic& diagnostic : library.diagnostics())
    if (diagnostic.severity == metric::Severity::error)
      return failure(ErrorKind::invalid_input, fmt::format("load the metrics of '{}'", path),
                     to_string(diagnostic), "'loft metric check' shows all mistakes");
  const std::scoped_lock lock(added().mutex);
  added().options.files.push_back(path);
  added().names.push_back(path);
  return {};
}

const char* loaded_file(std::size_t index) {
  const std::scoped_lock lock(added().mutex);
  return index < added().names.size() ? added().names[index].c_str() : nullptr;
}

Result<void> define_constant(const std::string& name, double value) {
  if (name.empty() || name.find('=') != std::string::npos || !std::isfinite(value))
    return failure(ErrorKind::invalid_input, fmt::format("define '{}'", name),
                   "a name and a finite number were expected");
  const std::scoped_lock lock(added().mutex);
  added().options.defines.push_back(fmt::format("{}={}", name, value));
  return {};
}

}  // namespace loft::api
