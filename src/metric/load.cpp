#include "metric/load.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "base/places.hpp"
#include "base/text.hpp"
#include "event/presets.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

constexpr std::size_t kLargestFile = std::size_t{32} << 20;

void load_file(Library& library, const std::string& path, Tier tier) {
  const auto text = read_file(path, kLargestFile);
  if (text) return library.add(read_metrics(path, *text), tier);
  MetricFile missing;
  missing.name = path;
  missing.complain(0, 0, text.error().why);
  library.add(std::move(missing), tier);
}

Result<void> define(Library& library, const std::string& text) {
  const auto equals = text.find('=');
  const auto number = equals == std::string::npos
                          ? std::nullopt
                          : parse_number(trim(std::string_view(text).substr(equals + 1)));
  if (!number || equals == 0)
    return failure(ErrorKind::invalid_input, fmt::format("define '{}'", text),
                   "NAME=NUMBER was expected", "as in --define L1_lat=4");
  library.add(Constant{std::string(trim(std::string_view(text).substr(0, equals))), *number,
                       std::nullopt, "command line"},
              Tier::command);
  return {};
}

// One way to get a preset; single events are tried in their order.
void add_mapping(MetricFile& file, const event::Preset& preset,
                 const event::PresetMapping& mapping) {
  Definition definition;
  definition.kind = DefinitionKind::alias;
  definition.name = preset.name;
  definition.description = preset.description;
  definition.variant = mapping.family;
  definition.place.file = file.name;
  if (!mapping.formula.empty()) {
    auto formula = parse_infix(mapping.formula);
    if (!formula)
      return file.complain(0, 0, fmt::format("{}: {}", preset.name, formula.error().why));
    definition.formula = *std::move(formula);
    return file.define(std::move(definition));
  }
  for (const std::string& event : mapping.alternatives) {
    if (event == preset.name) continue;
    Definition single = definition;
    single.formula.push_name(event, 0);
    single.variant += ":" + event;
    file.define(std::move(single));
  }
}

}  // namespace

void load_path(Library& library, const std::string& path, Tier tier) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return load_file(library, path, tier);
  const auto names = list_directory(path);
  if (!names) return load_file(library, path, tier);  // which says why
  for (const std::string& name : *names) {
    const std::string inside = join_path(path, name);
    if (!name.starts_with('.') && std::filesystem::is_regular_file(inside, error))
      load_file(library, inside, tier);
  }
}

void add_presets(Library& library) {
  const auto presets = event::Presets::load(share_directory());
  if (!presets) return;
  MetricFile file;
  file.name = join_path(share_directory(), event::Presets::kFile);
  for (const event::Preset& preset : presets->all())
    for (const event::PresetMapping& mapping : preset.mappings) add_mapping(file, preset, mapping);
  library.add(std::move(file), Tier::shared);
}

Result<Library> load_library(const LoadOptions& options) {
  Library library;
  if (options.shared) {
    load_path(library, join_path(share_directory(), "metrics"), Tier::shared);
    add_presets(library);
  }
  if (options.personal) {
    const std::string own = join_path(config_directory(), "metrics");
    if (file_exists(own)) load_path(library, own, Tier::user);
    // PAPI's own variable names one file; ours comes after it and may replace what it defines.
    const char* of_papi = std::getenv("PAPI_USER_EVENTS_FILE");
    if (of_papi != nullptr && *of_papi != '\0') load_path(library, of_papi, Tier::papi);
    const char* listed = std::getenv("LOFT_METRICS");
    for (const std::string_view path : split(listed == nullptr ? "" : listed, ':'))
      if (!path.empty()) load_path(library, std::string(path), Tier::environment);
  }
  for (const std::string& path : options.files) load_path(library, path, Tier::command);
  for (const std::string& text : options.defines) LOFT_CHECK(define(library, text));
  return library;
}

}  // namespace loft::metric
