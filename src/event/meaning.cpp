#include "event/meaning.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "event/event.hpp"
#include "event/virtual_names.hpp"

namespace loft::event {
namespace {

struct Known {
  Meaning meaning;
  std::string_view name;  // as plain_name gives it
  std::uint32_t type;
  std::uint64_t config;  // PERF_COUNT_*
};

// PERF_COUNT_HW_CACHE_*: the cache, the operation and the result, a byte each from below.
constexpr std::uint64_t kMiss = 1 << 16;
constexpr std::uint64_t kLlc = 2;
constexpr std::uint64_t kDtlb = 3;

constexpr std::array kKnown{
    Known{Meaning::cycles, "cycles", kTypeHardware, 0},
    Known{Meaning::instructions, "instructions", kTypeHardware, 1},
    Known{Meaning::cache_references, "cache_references", kTypeHardware, 2},
    Known{Meaning::cache_misses, "cache_misses", kTypeHardware, 3},
    Known{Meaning::branches, "branches", kTypeHardware, 4},
    Known{Meaning::branch_misses, "branch_misses", kTypeHardware, 5},
    Known{Meaning::stalled_frontend, "stalled_cycles_frontend", kTypeHardware, 7},
    Known{Meaning::stalled_backend, "stalled_cycles_backend", kTypeHardware, 8},
    Known{Meaning::ref_cycles, "ref_cycles", kTypeHardware, 9},
    Known{Meaning::l1d_loads, "l1_dcache_loads", kTypeHwCache, 0},
    Known{Meaning::l1d_load_misses, "l1_dcache_load_misses", kTypeHwCache, kMiss},
    Known{Meaning::llc_loads, "llc_loads", kTypeHwCache, kLlc},
    Known{Meaning::llc_load_misses, "llc_load_misses", kTypeHwCache, kLlc | kMiss},
    Known{Meaning::dtlb_loads, "dtlb_loads", kTypeHwCache, kDtlb},
    Known{Meaning::dtlb_load_misses, "dtlb_load_misses", kTypeHwCache, kDtlb | kMiss},
    Known{Meaning::cpu_clock, "cpu_clock", kTypeSoftware, 0},
    Known{Meaning::task_clock, "task_clock", kTypeSoftware, 1},
};

struct Alias {
  std::string_view name;
  Meaning meaning;
};

constexpr std::array kAliases{Alias{"cpu_cycles", Meaning::cycles},
                              Alias{"branch_instructions", Meaning::branches}};

bool is_modifiers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("ukhGHpPSDWIeb") == std::string_view::npos;
}

// "cpu/cycles/u" gives "cycles"; "cpu/event=0x3c/" has no name inside and stays.
std::string_view without_pmu(std::string_view name) {
  const auto open = name.find('/');
  const auto close = name.rfind('/');
  if (open == std::string_view::npos || open == close) return name;
  const std::string_view inside = name.substr(open + 1, close - open - 1);
  return inside.find('=') == std::string_view::npos && !inside.empty() ? inside : name;
}

}  // namespace

std::string plain_name(std::string_view name) {
  name = without_pmu(trim(name));
  for (const std::string_view prefix :
       {kVirtualPrefix, std::string_view("pfm:"), std::string_view("sysfs:")})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const auto colon = name.rfind(':');
  if (colon != std::string_view::npos && is_modifiers(name.substr(colon + 1)))
    name = name.substr(0, colon);
  std::string plain = to_lower(name);
  std::ranges::replace_if(
      plain, [](char c) { return c == '.' || c == ':' || c == '-'; }, '_');
  return plain;
}

Meaning meaning_of(std::string_view name) {
  const std::string plain = plain_name(name);
  if (const auto known = std::ranges::find(kKnown, plain, &Known::name); known != kKnown.end())
    return known->meaning;
  const auto alias = std::ranges::find(kAliases, plain, &Alias::name);
  return alias == kAliases.end() ? Meaning::other : alias->meaning;
}

Meaning meaning_of(const Encoding& encoding, std::string_view name) {
  const bool is_fixed = encoding.type == kTypeHardware || encoding.type == kTypeHwCache ||
                        encoding.type == kTypeSoftware;
  if (!is_fixed) return meaning_of(name);
  // The upper half says which of several core PMUs.
  const std::uint64_t config = encoding.config & 0xFFFF'FFFF;
  for (const Known& known : kKnown)
    if (known.type == encoding.type && known.config == config) return known.meaning;
  return Meaning::other;
}

}  // namespace loft::event
