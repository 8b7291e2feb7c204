#include "metric/asked.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "base/text.hpp"
#include "metric/evaluation.hpp"

namespace loft::metric {
namespace {

// Commas inside braces or slashes do not separate.
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

bool is_metric(const std::string& item, const Library& library, const Available& available) {
  const auto variants = library.find(item);
  if (variants.empty()) return false;
  const bool only_alias = std::ranges::all_of(
      variants, [](const auto* variant) { return variant->kind == DefinitionKind::alias; });
  // A PAPI preset that is one event here is counted as that event.
  return !only_alias || !available(item);
}

}  // namespace

std::string Asked::events() const {
  std::vector<std::string> all = named;
  all.insert(all.end(), needed.begin(), needed.end());
  return join(all, ",");
}

bool Asked::needs_time() const {
  return std::ranges::any_of(programs, [](const Program& program) {
    return std::ranges::find(program.inputs(), "time") != program.inputs().end();
  });
}

Available available_events(event::Resolver& resolver) {
  auto known = std::make_shared<std::map<std::string, bool, std::less<>>>();
  return [known, &resolver](std::string_view name) {
    if (name == "time") return true;
    const auto [at, is_new] = known->try_emplace(std::string(name));
    if (is_new) at->second = resolver.resolve_list(name).has_value();
    return at->second;
  };
}

Result<Asked> ask(const std::vector<std::string>& lists, const Library& library,
                  event::Resolver& resolver) {
  Asked asked;
  const Available available = available_events(resolver);
  std::vector<std::string> metrics;
  for (const std::string& list : lists)
    for (std::string& item : items_of(list))
      (is_metric(item, library, available) ? metrics : asked.named).push_back(std::move(item));
  LOFT_TRY(asked.programs, compile_all(library, metrics, available));
  for (const std::string& name : needs(asked.programs)) {
    if (const auto events = resolver.resolve_list(name)) {
      if (std::ranges::find(asked.named, name) == asked.named.end()) asked.needed.push_back(name);
    } else {
      asked.missing.emplace_back(name, events.error().why);
    }
  }
  return asked;
}

}  // namespace loft::metric
