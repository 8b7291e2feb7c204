// The part of the resolver that reads files of definitions: the user's own names and the presets.
#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "event/resolver.hpp"

namespace loft::event {
namespace {

constexpr int kDeepestDefinition = 16;

// Leaves one level when it goes, whichever way that is.
class Level {
 public:
  explicit Level(int& depth) : depth_(depth) { ++depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() { --depth_; }

 private:
  int& depth_;
};

// The value of "key : value" in /proc/cpuinfo.
std::string_view cpuinfo_value(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key)
      return trim(line.substr(colon + 1));
  }
  return {};
}

std::string family_of_pfm(std::string_view pmu) {
  if (pmu.find("_zen") != std::string_view::npos) return "zen";
  if (pmu.starts_with("arm")) return "arm";
  return pmu.starts_with("amd64") ? "" : "intel";
}

}  // namespace

Result<const Definitions*> Resolver::definitions() {
  if (options_.config_directory == "") definitions_.emplace();
  if (!definitions_) {
    LOFT_TRY(definitions_,
             Definitions::load(options_.config_directory.value_or(config_directory())));
  }
  return &*definitions_;
}

Result<const Presets*> Resolver::presets() {
  if (!presets_) {
    LOFT_TRY(presets_, Presets::load(options_.share_directory.value_or(share_directory())));
  }
  return &*presets_;
}

Result<Resolver::Events> Resolver::own_name(std::string_view name) {
  LOFT_TRY(const Definitions* const own, definitions());
  const Definition* found = own->find(name);
  if (found == nullptr) return Events{};
  if (depth_ == kDeepestDefinition)
    return failure(ErrorKind::invalid_input, "expand " + in_quotes(name),
                   "the definitions in '" + own->path() + "' name each other in a circle",
                   "take one of them out");
  const Level level(depth_);
  LOFT_TRY(auto events, resolve_list(found->text));
  if (found->kind == Definition::Kind::event && events.size() == 1) {
    events.front().name = name;
    events.front().origin = "user";
    if (!found->description.empty()) events.front().description = found->description;
  }
  return events;
}

// What the presets call the CPU of this machine; empty when they do not know it.
std::string Resolver::cpu_family() {
  if (options_.plain_names == PlainNames::virtual_first) return "virtual";
  if (!options_.pretended_pmu.empty()) return family_of_pfm(options_.pretended_pmu);
  for (const std::string& core : pmus_.core_names())
    if (core.starts_with("armv8_") || core.starts_with("armv9_")) return "arm";
  const auto cpuinfo = read_file(options_.root.at("/proc/cpuinfo"));
  if (!cpuinfo) return {};
  const std::string_view vendor = cpuinfo_value(*cpuinfo, "vendor_id");
  if (vendor == "GenuineIntel") return "intel";
  const auto family = parse_u64(cpuinfo_value(*cpuinfo, "cpu family"));
  return vendor == "AuthenticAMD" && family && *family >= 0x17 ? "zen" : "";
}

Result<const PresetMapping*> Resolver::preset_mapping(std::string_view name) {
  LOFT_TRY(const Presets* const all, presets());
  const Preset* preset = all->find(name);
  if (preset == nullptr) return unknown(name);
  const PresetMapping* mapping = preset->mapping_for(cpu_family());
  if (mapping == nullptr)
    return failure(ErrorKind::unsupported, "count " + in_quotes(name),
                   "no event of this CPU is known to mean '" + preset->description + "'",
                   "add one to events/papi-presets.txt, or name an event with 'loft event add'");
  return mapping;
}

Result<Resolver::Events> Resolver::preset_name(std::string_view name) {
  LOFT_TRY(const PresetMapping* const mapping, preset_mapping(name));
  if (mapping->alternatives.empty())
    return failure(ErrorKind::unsupported, "count " + in_quotes(name) + " as one event",
                   "on this CPU it is derived: " + mapping->formula, "count these events instead");
  Error last;
  for (const std::string& alternative : mapping->alternatives) {
    auto events = resolve_item(alternative);
    if (!events) {
      last = events.error();
      continue;
    }
    LOFT_TRY(const Presets* const all, presets());
    for (Event& event : *events) {
      if (events->size() == 1) event.name = name;
      event.origin = "PAPI preset";
      event.description = all->find(name)->description;
    }
    return events;
  }
  last.what = "count " + in_quotes(name) + " (" + join(mapping->alternatives, " or ") + ")";
  return tl::make_unexpected(std::move(last));
}

}  // namespace loft::event
