#include "engine/classify/isa.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"

namespace loft::engine {
namespace {

constexpr std::string_view kBaseSets[] = {
    "I86",      "I186",        "I286REAL", "I286PROTECTED", "I386",       "I486",
    "I486REAL", "PENTIUMREAL", "PPRO",     "LONGMODE",      "LAHF",       "FAT_NOP",
    "CMOV",     "PAUSE",       "AMD",      "PREFETCH_NOP",  "CMPXCHG16B",
};

constexpr std::string_view kLengths[] = {"_128", "_128N", "_256", "_512", "_SCALAR", "_KOP"};

// No allocation here: the engine classifies inside the program that it runs.
std::string_view family_name(std::string_view set) {
  if (set == "INVALID") return "NONE";
  if (std::find(std::begin(kBaseSets), std::end(kBaseSets), set) != std::end(kBaseSets))
    return "BASE";
  for (const std::string_view length : kLengths)
    if (set.ends_with(length)) return set.substr(0, set.size() - length.size());
  return set;
}

constexpr std::size_t kSets = ZYDIS_ISA_SET_MAX_VALUE + 1;

struct Families {
  std::array<std::string_view, kSets> names{};
  std::size_t count = 0;
  std::array<std::uint16_t, kSets> of_set{};
};

Families build() {
  Families families;
  for (std::size_t set = 0; set < kSets; ++set) {
    const std::string_view name = family_name(ZydisISASetGetString(static_cast<ZydisISASet>(set)));
    const auto end = families.names.begin() + static_cast<std::ptrdiff_t>(families.count);
    const auto found = std::find(families.names.begin(), end, name);
    families.of_set[set] = static_cast<std::uint16_t>(found - families.names.begin());
    if (found == end) families.names[families.count++] = name;
  }
  return families;
}

const Families& families() {
  static const Families built = build();
  return built;
}

}  // namespace

std::uint16_t isa_family(ZydisISASet set) {
  return families().of_set[static_cast<std::size_t>(set)];
}

std::vector<std::string> isa_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < families().count; ++i) names.push_back(to_lower(families().names[i]));
  return names;
}

}  // namespace loft::engine
