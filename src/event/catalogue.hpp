// Every event that can be named, where the name comes from, and what it means: for 'loft list'.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "event/resolver.hpp"

namespace loft::event {

struct CatalogueEntry {
  std::string name;  // can be given to Resolver::resolve_list as it stands
  std::string origin;
  std::string description;
  std::string unit;
  std::string pmu;
  std::vector<std::string> aliases;
  std::optional<std::uint64_t> config;  // in lists of another CPU: what its core PMU would be told
};

struct Catalogue {
  std::vector<CatalogueEntry> entries;
  std::vector<std::string> notes;  // what could not be listed, and why
};

// The names on this machine, or on that of the root in `options`, that match all of `words`: a word
// may stand in the name, an alias, the origin or the description; letter case does not matter.
[[nodiscard]] Catalogue list_events(const ResolverOptions& options,
                                    const std::vector<std::string>& words);

// The names of another CPU that match, from libpfm4's tables: "skl", "amd64_fam19h_zen3", "zen3".
[[nodiscard]] Result<Catalogue> list_events_of_cpu(std::string_view cpu,
                                                   const ResolverOptions& options,
                                                   const std::vector<std::string>& words);

}  // namespace loft::event
