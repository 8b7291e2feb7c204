#include "event/catalogue.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "event/pfm.hpp"
#include "event/tracepoint.hpp"
#include "event/virtual_names.hpp"

namespace loft::event {
namespace {

using Entries = std::vector<CatalogueEntry>;

void add_kernel_names(Entries& entries) {
  for (const KernelEvent& event : all_kernel_events())
    entries.push_back({event.name,
                       "kernel",
                       event.description,
                       event.unit,
                       event.is_hardware() ? "cpu" : "software",
                       event.aliases,
                       {}});
}

// Each event of a family of PMUs once: uncore_imc/cas_count_read/, not one per memory channel.
void add_sysfs_names(Resolver& resolver, Entries& entries) {
  std::set<std::string> seen;
  std::map<std::string, int> publishers;
  const std::size_t first = entries.size();
  for (const std::string& name : resolver.pmus().names()) {
    const auto pmu = resolver.pmus().find(name);
    if (!pmu) continue;
    const std::string stem(pmu_stem(name));
    for (const std::string& event : pmu->event_names()) {
      const std::string full = stem + "/" + event + "/";
      if (!seen.insert(full).second) continue;
      const auto encoded = resolver.resolve_list(full);
      if (!encoded) continue;  // needs what loft cannot pass on, such as config3
      ++publishers[event];
      entries.push_back(
          {full, "sysfs", "Event of the PMU " + stem, encoded->front().unit, stem, {event}, {}});
    }
  }
  for (std::size_t i = first; i < entries.size(); ++i) {
    const std::string& bare = entries[i].aliases.front();
    if (publishers[bare] > 1 || find_kernel_event(bare)) entries[i].aliases.clear();
  }
}

void add_own_names(Resolver& resolver, Catalogue& catalogue) {
  const auto own = resolver.definitions();
  if (!own) {
    catalogue.notes.push_back(to_string(own.error()));
    return;
  }
  for (const Definition& definition : (*own)->all()) {
    const bool is_set = definition.kind == Definition::Kind::set;
    catalogue.entries.push_back(
        {definition.name,
         is_set ? "event set" : "user",
         definition.description.empty() ? "Stands for " + definition.text : definition.description,
         "",
         "",
         {},
         {}});
  }
}

void add_tracepoints(const SystemRoot& root, Catalogue& catalogue) {
  const auto names = list_tracepoints(root);
  if (!names) {
    catalogue.notes.push_back("no tracepoints are listed: " + names.error().why + "; " +
                              names.error().hint);
    return;
  }
  for (const std::string& name : *names)
    catalogue.entries.push_back(
        {name, "tracepoint", "Tracepoint of the kernel", "", "tracepoint", {}, {}});
}

// libpfm4's own names for what the kernel names already are left out.
bool repeats_the_kernel(const PfmPmu& pmu) { return pmu.name == "perf" || pmu.name == "perf_raw"; }

void add_pfm_names(const ResolverOptions& options, Resolver& resolver, Catalogue& catalogue) {
  if (!options.root.is_live()) return;  // libpfm4 looks at the machine that it runs on
  const auto pfm = Pfm::instance();
  if (!pfm) {
    catalogue.notes.push_back("no names of libpfm4 are listed: " + pfm.error().why + "; " +
                              pfm.error().hint);
    return;
  }
  for (const PfmPmu& pmu : (*pfm)->pmus()) {
    if (!pmu.present || repeats_the_kernel(pmu)) continue;
    std::optional<bool> can_be_opened;  // the first event tells for all
    (*pfm)->for_each_event(pmu, [&](const PfmEvent& event) {
      const std::string name = pmu.name + "::" + event.name;
      if (!can_be_opened) can_be_opened = resolver.resolve(name).has_value();
      if (*can_be_opened)
        catalogue.entries.push_back({name, "libpfm4", event.description, "", pmu.name, {}, {}});
    });
  }
}

void add_presets(Resolver& resolver, Catalogue& catalogue) {
  const auto presets = resolver.presets();
  if (!presets) {
    catalogue.notes.push_back(to_string(presets.error()));
    return;
  }
  for (const Preset& preset : (*presets)->all()) {
    const auto event = resolver.resolve(preset.name);
    if (!event) continue;  // derived, or not on this CPU
    catalogue.entries.push_back(
        {preset.name, "PAPI preset", preset.description, event->unit, event->encoding.pmu, {}, {}});
  }
}

void add_virtual_names(VirtualNames names, Entries& entries) {
  if (names == nullptr) return;
  for (const VirtualName& name : names())
    entries.push_back({std::string(kVirtualPrefix) + name.name,
                       "virtual PMU",
                       name.description,
                       name.unit,
                       "virtual",
                       {},
                       {}});
}

// Whether each of `words` stands somewhere in the entry.
bool matches(const CatalogueEntry& entry, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return contains_ignoring_case(entry.name, word) || contains_ignoring_case(entry.origin, word) ||
           contains_ignoring_case(entry.description, word) ||
           std::any_of(entry.aliases.begin(), entry.aliases.end(), [&](const std::string& alias) {
             return contains_ignoring_case(alias, word);
           });
  });
}

void keep_matching(Catalogue& catalogue, const std::vector<std::string>& words) {
  std::erase_if(catalogue.entries,
                [&](const CatalogueEntry& entry) { return !matches(entry, words); });
  if (catalogue.entries.empty()) catalogue.notes.emplace_back("no event matches all of the words");
}

}  // namespace

Catalogue list_events(const ResolverOptions& options, const std::vector<std::string>& words) {
  Resolver resolver(options);
  Catalogue catalogue;
  add_kernel_names(catalogue.entries);
  add_sysfs_names(resolver, catalogue.entries);
  add_own_names(resolver, catalogue);
  add_tracepoints(options.root, catalogue);
  add_pfm_names(options, resolver, catalogue);
  add_presets(resolver, catalogue);
  add_virtual_names(options.virtual_names, catalogue.entries);
  keep_matching(catalogue, words);
  const bool has_hardware =
      std::any_of(catalogue.entries.begin(), catalogue.entries.end(),
                  [](const CatalogueEntry& entry) { return entry.pmu == "cpu"; });
  if (has_hardware && resolver.pmus().core_names().empty())
    catalogue.notes.push_back(
        "the kernel offers no hardware counters on this machine: cycles, instructions, caches and "
        "branches have names here but cannot be counted" +
        std::string(options.virtual_names == nullptr ? "" : "; the virtual:: events can"));
  return catalogue;
}

Result<Catalogue> list_events_of_cpu(std::string_view cpu, const ResolverOptions& options,
                                     const std::vector<std::string>& words) {
  LOFT_TRY(Pfm* const pfm, Pfm::instance());
  LOFT_TRY(const PfmPmu pmu, pfm->find_pmu(cpu));
  Catalogue catalogue;
  pfm->for_each_event(pmu, [&](const PfmEvent& event) {
    catalogue.entries.push_back(
        {pmu.name + "::" + event.name, "libpfm4", event.description, "", pmu.name, {}, {}});
  });
  if (pmu.core) {
    for (CatalogueEntry& entry : catalogue.entries)
      if (const auto encoded = pfm->encode_as(pmu, entry.name))
        entry.config = encoded->encoding.config;
    ResolverOptions pretended = options;
    pretended.pretended_pmu = pmu.name;
    Resolver resolver(pretended);
    add_presets(resolver, catalogue);
  }
  keep_matching(catalogue, words);
  catalogue.notes.push_back("these are the names of " + pmu.description +
                            ", which need not be the CPU of this machine");
  return catalogue;
}

}  // namespace loft::event
