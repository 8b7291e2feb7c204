// What an event means to a reader, where that is common knowledge: the events that ratios are made
// of. `cycles`, `cpu-cycles:u`, `cpu_core/cycles/` and `r003c` by its published name are cycles.
//
//   meaning_of("cpu_core/instructions/u") == Meaning::instructions
//
// The resolver sets it once, from the encoding where that says it and from the name where it does
// not. Nobody who has an event reads its name again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loft::event {

struct Encoding;

enum class Meaning : std::uint8_t {
  other,
  cycles,
  ref_cycles,
  instructions,
  branches,
  branch_misses,
  cache_references,
  cache_misses,
  l1d_loads,
  l1d_load_misses,
  llc_loads,
  llc_load_misses,
  dtlb_loads,
  dtlb_load_misses,
  stalled_frontend,
  stalled_backend,
  task_clock,
  cpu_clock,
};

// The one normaliser of names. "cpu/cycles/u", "cycles:u" and "CYCLES" are one event to a formula;
// so are INST_RETIRED.ANY, INST_RETIRED:ANY and INST_RETIRED_ANY. Modifiers, the PMU, schemes
// ("virtual::", "pfm:", "sysfs:"), letter case and punctuation go.
[[nodiscard]] std::string plain_name(std::string_view name);

// By name, for counts of which nothing else is known: those of other tools' files.
[[nodiscard]] Meaning meaning_of(std::string_view name);

// By encoding, and by `name` where the encoding says nothing to everybody: raw codes, and the
// virtual PMU's events.
[[nodiscard]] Meaning meaning_of(const Encoding& encoding, std::string_view name);

}  // namespace loft::event
