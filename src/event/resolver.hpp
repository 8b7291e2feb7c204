// From names to events. One grammar, looked up in this order; Event.origin says where it was found:
//
//   pfm:NAME sysfs:NAME raw:HEX tracepoint:GROUP:NAME   an explicit scheme
//   virtual::NAME, with PlainNames also NAME             the virtual PMU
//   cycles, L1-dcache-load-misses, task-clock           the kernel's own names
//   pmu/term=value/, a name in a PMU's events/          what PMUs publish in sysfs
//   what the user named with 'loft event' and 'loft evset'
//   group:name                                          tracepoints
//   pmu::EVENT:UMASK, EVENT:UMASK                       libpfm4, for PMUs that are here
//   PAPI_TOT_INS                                        presets of share/events
//   rNNNN                                               raw, on the core PMU
//
//   Resolver resolver;
//   LOFT_TRY(const auto events, resolver.resolve_list("cycles:u,{instructions,branches}"));
//
// Sources of names are opened when the first name needs them. A name may stand for several events:
// a set, the instances of an uncore PMU, or each core PMU of a hybrid machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/places.hpp"
#include "base/result.hpp"
#include "event/definitions.hpp"
#include "event/event.hpp"
#include "event/grammar.hpp"
#include "event/kernel_names.hpp"
#include "event/pmu.hpp"
#include "event/presets.hpp"
#include "event/virtual_names.hpp"

namespace loft::event {

// When a name without "virtual::" in front means the virtual PMU's event.
enum class PlainNames {
  never_virtual,
  virtual_first,  // always, if it has one of this name
  best,           // if nobody else counts it: no hardware counters, or a name that only it has
};

struct ResolverOptions {
  SystemRoot root;
  // The user's files; by default in $XDG_CONFIG_HOME/loft, and none at all when this is "".
  std::optional<std::string> config_directory;
  std::optional<std::string> share_directory;  // the presets; default: where loft is installed
  // A dry run for another CPU: libpfm4's name of its core PMU. What it resolves cannot be opened.
  std::string pretended_pmu;
  VirtualNames virtual_names = nullptr;  // the virtual PMU's events, where it is there
  PlainNames plain_names = PlainNames::never_virtual;
};

class Resolver {
 public:
  explicit Resolver(SystemRoot root = {})
      : Resolver(ResolverOptions{std::move(root), {}, {}, {}}) {}
  explicit Resolver(ResolverOptions options);

  // The one event of this name; a name of several is an error.
  [[nodiscard]] Result<Event> resolve(std::string_view name);

  // All events of a comma-separated list, sets and PMU families expanded, groups numbered.
  [[nodiscard]] Result<std::vector<Event>> resolve_list(std::string_view list);

  // What the resolver reads, for those who list it.
  [[nodiscard]] PmuTable& pmus() { return pmus_; }
  [[nodiscard]] Result<const Definitions*> definitions();
  [[nodiscard]] Result<const Presets*> presets();

 private:
  // What a name stands for; empty when this source of names does not know it.
  using Events = std::vector<Event>;

  Result<Events> resolve_item(std::string_view name);
  Result<Events> without_colon(std::string_view name);
  Result<Events> with_colon(std::string_view name);
  Result<Events> with_scheme(std::string_view scheme, std::string_view rest);
  Result<Events> simple_name(std::string_view name);
  Result<Events> sysfs_name(std::string_view name);
  Result<Events> pmu_terms(const PmuName& parts);
  Result<Events> tracepoint(std::string_view group, std::string_view name);
  Result<Events> pfm_name(std::string_view name);
  Events other_spelling(std::string_view name);
  Result<Events> own_name(std::string_view name);
  Result<Events> preset_name(std::string_view name);
  Result<Events> raw_digits(std::string_view digits);
  Result<Events> virtual_name(std::string_view name);
  std::optional<Event> find_virtual(std::string_view name) const;
  std::optional<Event> virtual_instead(std::string_view name);

  Events kernel_events(const KernelEvent& found);
  Result<Event> one_of_pmu(const std::string& pmu_name, std::string_view terms);
  Result<Event> pfm_encoding(std::string_view name);
  Result<Encoding> kernel_pmu_of(const Encoding& pfm);
  Result<Encoding> core_encoding(std::uint64_t config);
  Result<const PresetMapping*> preset_mapping(std::string_view name);
  std::string cpu_family();
  Failure unknown(std::string_view name);
  void finish(Event& event);

  ResolverOptions options_;
  PmuTable pmus_;
  std::optional<Definitions> definitions_;
  std::optional<Presets> presets_;
  int depth_ = 0;  // of definitions that name definitions
};

}  // namespace loft::event
