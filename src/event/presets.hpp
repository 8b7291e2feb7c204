// PAPI's preset names, from share/events/papi-presets.txt. One name for the same idea on all CPUs:
// for each family of CPUs the file has an event that means it, or a formula over several.
//
//   preset PAPI_TOT_INS Instructions completed
//     any = instructions
//   preset PAPI_BR_PRC Conditional branches predicted correctly
//     intel = pfm:BR_INST_RETIRED:CONDITIONAL - pfm:BR_MISP_RETIRED:CONDITIONAL
//
// Blanks around an operator make a formula; "|" separates events of which the first that exists
// here is taken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace loft::event {

struct PresetMapping {
  std::string family;                     // "any", "intel", "zen", "arm", "virtual"
  std::vector<std::string> alternatives;  // single events, best first; empty for a formula
  std::string formula;                    // over event names, operators between blanks
};

struct Preset {
  std::string name;
  std::string description;
  std::vector<PresetMapping> mappings;

  // The mapping for a family of CPUs; its own before "any"; none is nullptr.
  [[nodiscard]] const PresetMapping* mapping_for(std::string_view family) const;
};

class Presets {
 public:
  static constexpr std::string_view kFile = "events/papi-presets.txt";

  [[nodiscard]] static Result<Presets> load(const std::string& share_directory);
  [[nodiscard]] static Result<Presets> parse(std::string_view text, const std::string& path);

  [[nodiscard]] const std::vector<Preset>& all() const { return presets_; }
  [[nodiscard]] const Preset* find(std::string_view name) const;

 private:
  std::vector<Preset> presets_;
};

}  // namespace loft::event
