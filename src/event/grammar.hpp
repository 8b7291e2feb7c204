// How event names are written: lists, groups and modifiers. Nothing here knows what a name means.
//
//   cycles,{instructions,branches}:u,cpu/event=0x3c,umask=1/k
//
// Commas separate events, except between the slashes of pmu/terms/; braces make a group;
// letters after the last colon (or the last slash) say where to count.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "event/event.hpp"

namespace loft::event {

inline constexpr std::size_t kLongestName = 4096;
inline constexpr std::size_t kLongestList = 1 << 20;
inline constexpr std::size_t kMostEvents = 4096;

// One entry of a list. `group` is 0 outside braces and the same number within one pair.
struct ListItem {
  std::string text;
  std::uint32_t group = 0;
  std::string group_modifiers;  // what followed the closing brace, without its colon
};

[[nodiscard]] Result<std::vector<ListItem>> split_list(std::string_view list);

// The parts of "pmu/terms/modifiers".
struct PmuName {
  std::string_view pmu;
  std::string_view terms;
  std::string_view modifiers;
};

// Nothing when `name` has no slash; an error when its slashes do not pair up.
[[nodiscard]] Result<std::optional<PmuName>> split_pmu_name(std::string_view name);

// Whether `text` is made of modifier letters alone: it need not be a valid combination.
bool looks_like_modifiers(std::string_view text);

// "u", "kpp", "" ...; `name` is only for the error.
[[nodiscard]] Result<Modifiers> parse_modifiers(std::string_view text, std::string_view name);

// What a name must hold to before anybody looks it up: its length, and printable characters alone.
[[nodiscard]] Result<void> check_name(std::string_view name);

// A name for messages: escaped, and shortened when it is long.
std::string in_quotes(std::string_view name);

}  // namespace loft::event
