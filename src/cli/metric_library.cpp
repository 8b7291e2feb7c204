#include "cli/metric_library.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/file.hpp"
#include "base/places.hpp"
#include "base/text.hpp"

namespace loft::cli {
namespace {

// The machine file of the cache, when there is exactly one.
std::string cached_machine_file(Terminal& terminal) {
  const auto names = list_directory(cache_directory());
  std::vector<std::string> found;
  if (names)
    for (const std::string& name : *names)
      if (name.starts_with("machine-") && name.ends_with(".json")) found.push_back(name);
  if (found.size() > 1)
    terminal.note("note: several machine files are in the cache; --machine FILE chooses one\n");
  return found.size() == 1 ? join_path(cache_directory(), found[0]) : std::string();
}

Result<void> add_machine(metric::Library& library, const MetricFlags& flags, Terminal& terminal) {
  const std::string path = flags.machine.empty() ? cached_machine_file(terminal) : flags.machine;
  if (path.empty()) return {};
  LOFT_TRY(const auto text, read_file(path));
  LOFT_TRY(auto constants, metric::read_machine_constants(path, text));
  for (metric::Constant& constant : constants)
    library.add(std::move(constant), metric::Tier::machine);
  return {};
}

// Commas inside braces, slashes or parentheses do not separate.
std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items(1);
  int depth = 0;
  bool in_pmu = false;
  for (const char c : list) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == '/') in_pmu = !in_pmu;
    if (c == ',' && depth == 0 && !in_pmu) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  return items;
}

}  // namespace

void add_metric_flags(CLI::App& command, MetricFlags& flags) {
  command.add_option("-m,--metrics", flags.files, "also read metrics from this file or folder")
      ->allow_extra_args(false);
  command.add_option("-D,--define", flags.defines, "set a constant: NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--machine", flags.machine, "take machine constants from this machine file");
}

Result<metric::Library> load_metrics(const MetricFlags& flags, Terminal& terminal) {
  LOFT_TRY(metric::Library library, metric::load_library({flags.files, flags.defines, true, true}));
  LOFT_CHECK(add_machine(library, flags, terminal));
  std::size_t own = 0;
  for (const metric::Diagnostic& diagnostic : library.diagnostics()) {
    if (diagnostic.severity == metric::Severity::note) continue;
    terminal.note(to_string(diagnostic) + "\n");
    const bool named = std::ranges::any_of(flags.files, [&](const std::string& path) {
      return diagnostic.place.file.starts_with(path);
    });
    if (named && diagnostic.severity == metric::Severity::error) ++own;
  }
  if (own > 0)
    return failure(ErrorKind::invalid_input, "use the metric files",
                   fmt::format("{} mistakes are in files named with --metrics", own),
                   "'loft metric check FILE' shows them all");
  return library;
}

metric::Available available_events(event::Resolver& resolver) {
  auto known = std::make_shared<std::map<std::string, bool, std::less<>>>();
  return [known, &resolver](std::string_view name) {
    if (name == "time") return true;
    const auto [at, is_new] = known->try_emplace(std::string(name));
    if (is_new) at->second = resolver.resolve_list(name).has_value();
    return at->second;
  };
}

NamedMetrics split_metrics(const std::vector<std::string>& lists, const metric::Library& library,
                           const metric::Available& available) {
  NamedMetrics named;
  for (const std::string& list : lists) {
    for (const std::string& item : items_of(list)) {
      const auto variants = library.find(item);
      const bool only_alias = !variants.empty() && std::ranges::all_of(variants, [](const auto* v) {
        return v->kind == metric::DefinitionKind::alias;
      });
      // A PAPI preset that is one event here is counted as that event.
      const bool is_metric = !variants.empty() && !(only_alias && available(item));
      (is_metric ? named.metrics : named.events).push_back(item);
    }
  }
  return named;
}

}  // namespace loft::cli
