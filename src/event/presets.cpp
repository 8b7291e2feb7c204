#include "event/presets.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "event/grammar.hpp"
#include "event/text_file.hpp"

namespace loft::event {
namespace {

constexpr std::string_view kFamilies[] = {"any", "intel", "zen", "arm", "virtual"};
constexpr std::string_view kOperators[] = {" + ", " - ", " * ", " / "};

bool is_formula(std::string_view text) {
  return std::any_of(std::begin(kOperators), std::end(kOperators), [&](std::string_view operation) {
    return text.find(operation) != std::string_view::npos;
  });
}

Result<PresetMapping> parse_mapping(std::string_view line, std::size_t number,
                                    const std::string& path) {
  const std::string_view body = trim(line);
  const auto equals = body.find('=');
  const std::string_view family = trim(body.substr(0, equals));
  if (std::find(std::begin(kFamilies), std::end(kFamilies), family) == std::end(kFamilies))
    return malformed_at(path, number, column_of(line, body),
                        in_quotes(family) + " is no family of CPUs",
                        "the families are any, intel, zen, arm and virtual");
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : trim(body.substr(equals + 1));
  if (value.empty()) return malformed_at(path, number, line.size() + 1, "no event follows '='");
  PresetMapping mapping;
  mapping.family = family;
  if (is_formula(value)) {
    mapping.formula = value;
    return mapping;
  }
  for (const std::string_view piece : split(value, '|')) {
    const std::string_view name = trim(piece);
    if (const auto good = check_name(name); !good)
      return malformed_at(path, number, column_of(line, value), good.error().why);
    mapping.alternatives.emplace_back(name);
  }
  return mapping;
}

}  // namespace

const PresetMapping* Preset::mapping_for(std::string_view family) const {
  const PresetMapping* general = nullptr;
  for (const PresetMapping& mapping : mappings) {
    if (mapping.family == family) return &mapping;
    if (mapping.family == "any") general = &mapping;
  }
  return general;
}

Result<Presets> Presets::load(const std::string& share_directory) {
  const std::string path = join_path(share_directory, kFile);
  LOFT_TRY(const std::string text, read_file(path, kLargestTextFile));
  return parse(text, path);
}

Result<Presets> Presets::parse(std::string_view text, const std::string& path) {
  static constexpr std::string_view kWord = "preset ";
  Presets result;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view body = trim(line);
    if (body.empty() || body.starts_with('#')) continue;
    if (body.starts_with(kWord)) {
      const std::string_view rest = trim(body.substr(kWord.size()));
      const auto blank = std::min(rest.find(' '), rest.size());
      const std::string_view name = rest.substr(0, blank);
      if (!name.starts_with("PAPI_") || result.find(name) != nullptr)
        return malformed_at(path, number, column_of(line, rest),
                            in_quotes(name) + " is not a new name that starts with PAPI_");
      result.presets_.push_back({std::string(name), std::string(trim(rest.substr(blank))), {}});
      continue;
    }
    if (result.presets_.empty())
      return malformed_at(path, number, column_of(line, body), "no preset stands before this");
    LOFT_TRY(auto mapping, parse_mapping(line, number, path));
    result.presets_.back().mappings.push_back(std::move(mapping));
  }
  return result;
}

const Preset* Presets::find(std::string_view name) const {
  const auto found = std::find_if(presets_.begin(), presets_.end(),
                                  [&](const Preset& preset) { return preset.name == name; });
  return found == presets_.end() ? nullptr : &*found;
}

}  // namespace loft::event
