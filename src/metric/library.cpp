#include "metric/library.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace loft::metric {

void Library::add(MetricFile file, Tier tier) {
  std::ranges::move(file.diagnostics, std::back_inserter(diagnostics_));
  for (Constant& constant : file.constants) add(std::move(constant), tier);
  for (EventUnit& event : file.event_units) {
    if (event.pattern.ends_with('*')) {
      event.pattern.pop_back();
      event_prefixes_.insert_or_assign(std::move(event.pattern), std::move(event.unit));
    } else {
      event_units_.insert_or_assign(std::move(event.pattern), std::move(event.unit));
    }
  }
  for (Definition& definition : file.definitions) add(std::move(definition), tier);
}

void Library::add(Definition definition, Tier tier) {
  const auto [at, is_new] = definitions_.try_emplace(definition.name, Entry{tier, {}});
  Entry& entry = at->second;
  if (tier < entry.tier) return;
  if (tier > entry.tier) entry = Entry{tier, {}};
  const auto same = std::ranges::find(entry.variants, definition.variant, &Definition::variant);
  if (same != entry.variants.end()) {
    diagnostics_.push_back({Severity::error, definition.place,
                            fmt::format("'{}' is defined twice, first at {}", definition.name,
                                        to_string(same->place))});
    return;
  }
  entry.variants.push_back(std::move(definition));
}

void Library::add(Constant constant, Tier tier) {
  const auto [at, is_new] = constants_.try_emplace(constant.name, Held{tier, constant});
  if (!is_new && tier >= at->second.tier) at->second = Held{tier, std::move(constant)};
}

bool Library::has_errors() const {
  return std::ranges::any_of(diagnostics_, [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::error;
  });
}

std::vector<const Definition*> Library::find(std::string_view name) const {
  std::vector<const Definition*> variants;
  const auto found = definitions_.find(name);
  if (found == definitions_.end()) return variants;
  for (const Definition& definition : found->second.variants) variants.push_back(&definition);
  return variants;
}

const Constant* Library::find_constant(std::string_view name) const {
  const auto found = constants_.find(name);
  return found == constants_.end() ? nullptr : &found->second.constant;
}

const Unit* Library::event_unit(std::string_view name) const {
  if (const auto whole = event_units_.find(name); whole != event_units_.end())
    return &whole->second;
  const Unit* best = nullptr;
  std::size_t length = 0;
  for (const auto& [prefix, unit] : event_prefixes_) {
    if (!name.starts_with(prefix) || prefix.size() < length) continue;
    best = &unit;
    length = prefix.size();
  }
  return best;
}

std::vector<std::string> Library::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : definitions_)
    if (!std::ranges::all_of(entry.variants, [](const Definition& definition) {
          return definition.kind == DefinitionKind::alias;
        }))
      names.push_back(name);
  return names;
}

std::vector<const Definition*> Library::with_words(const std::vector<std::string>& words) const {
  std::vector<const Definition*> found;
  for (const std::string& name : names())
    for (const Definition* definition : find(name))
      if (std::ranges::all_of(words, [&](const std::string& word) {
            return contains_ignoring_case(definition->name, word) ||
                   contains_ignoring_case(definition->description, word) ||
                   contains_ignoring_case(definition->group, word);
          }))
        found.push_back(definition);
  return found;
}

std::vector<const Constant*> Library::constants() const {
  std::vector<const Constant*> all;
  for (const auto& [name, held] : constants_) all.push_back(&held.constant);
  return all;
}

}  // namespace loft::metric
