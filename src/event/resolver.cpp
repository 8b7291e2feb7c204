#include "event/resolver.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "event/pfm.hpp"
#include "event/tracepoint.hpp"
#include "event/virtual_names.hpp"

namespace loft::event {
namespace {

constexpr std::string_view kSchemes[] = {"pfm", "sysfs", "raw", "tracepoint"};
constexpr int kPmuTypeShift = 32;  // a core PMU's type in the config of a generic event

// Gives `text` to those events that have no modifiers of their own.
Result<void> apply_modifiers(std::vector<Event>& events, std::string_view text,
                             std::string_view name) {
  if (text.empty()) return {};
  LOFT_TRY(const Modifiers modifiers, parse_modifiers(text, name));
  for (Event& event : events) {
    if (event.modifiers != Modifiers{}) continue;
    if (!event.cpus.empty())
      return failure(ErrorKind::invalid_input, "count " + in_quotes(name),
                     "the PMU '" + event.encoding.pmu +
                         "' counts for all of a package and cannot tell user from kernel",
                     "leave the modifier out");
    event.modifiers = modifiers;
    event.name += ":" + std::string(text);
  }
  return {};
}

std::vector<Event> named(Event event, std::string_view name) {
  event.name = name;
  return {std::move(event)};
}

}  // namespace

Resolver::Resolver(ResolverOptions options) : options_(std::move(options)), pmus_(options_.root) {}

Result<Event> Resolver::resolve(std::string_view name) {
  LOFT_TRY(auto events, resolve_item(trim(name)));
  if (events.size() == 1) {
    finish(events.front());
    return std::move(events.front());
  }
  std::vector<std::string> names;
  for (const Event& event : events) names.push_back(event.name);
  return failure(ErrorKind::invalid_input, "take " + in_quotes(name) + " as one event",
                 "it stands for " + join(names, ", "), "name one of them");
}

Result<std::vector<Event>> Resolver::resolve_list(std::string_view list) {
  LOFT_TRY(const auto items, split_list(list));
  std::vector<Event> all;
  std::uint32_t groups = 0;  // sets may bring groups of their own, so these are numbered anew
  std::uint32_t item_group = 0;
  for (const ListItem& item : items) {
    LOFT_TRY(auto events, resolve_item(item.text));
    LOFT_CHECK(apply_modifiers(events, item.group_modifiers, item.text));
    if (all.size() + events.size() > kMostEvents)
      return failure(ErrorKind::limit, "read the event list " + in_quotes(list),
                     "it stands for more than " + std::to_string(kMostEvents) + " events");
    if (item.group != 0 && item.group != item_group) ++groups;
    item_group = item.group;
    const std::uint32_t base = groups;
    for (Event& event : events) {
      finish(event);
      if (item.group != 0) {
        event.group = groups;
      } else if (event.group != 0) {
        event.group += base;
        groups = std::max(groups, event.group);
      }
      all.push_back(std::move(event));
    }
  }
  return all;
}

Result<Resolver::Events> Resolver::resolve_item(std::string_view name) {
  LOFT_CHECK(check_name(name));
  for (const std::string_view scheme : kSchemes)
    if (name.starts_with(scheme) && name.substr(scheme.size()).starts_with(':') &&
        !name.substr(scheme.size()).starts_with("::"))
      return with_scheme(scheme, name.substr(scheme.size() + 1));
  if (name.starts_with(kVirtualPrefix)) return virtual_name(name);
  if (auto event = virtual_instead(name)) return named(*std::move(event), name);
  LOFT_TRY(const auto parts, split_pmu_name(name));
  if (parts) return pmu_terms(*parts);
  LOFT_TRY(auto events,
           name.find(':') == std::string_view::npos ? without_colon(name) : with_colon(name));
  if (!events.empty()) return events;
  if (options_.plain_names == PlainNames::best)
    if (auto event = find_virtual(name)) return named(*std::move(event), name);
  return unknown(name);
}

// The virtual PMU's event for a name that others know, too. "instructions:u" is what it counts.
std::optional<Event> Resolver::virtual_instead(std::string_view name) {
  if (options_.plain_names == PlainNames::never_virtual) return std::nullopt;
  if (name.ends_with(":u")) name.remove_suffix(2);
  if (options_.plain_names == PlainNames::best) {
    const auto known = find_kernel_event(name);
    if (!known || !known->is_hardware() || !pmus_.core_names().empty()) return std::nullopt;
    name = known->name;
  }
  return find_virtual(name);
}

// What only shows when the name is understood: what the event means, and that a core event needs a
// core PMU, which many virtual machines lack.
void Resolver::finish(Event& event) {
  event.meaning = meaning_of(event.encoding, event.name);
  if (event.encoding.kind() == PmuKind::core && options_.pretended_pmu.empty() &&
      pmus_.core_names().empty())
    event.uncountable =
        "this machine has no hardware counters (no core PMU: usual in virtual machines)";
}

Result<Resolver::Events> Resolver::without_colon(std::string_view name) {
  LOFT_TRY(auto events, simple_name(name));
  if (!events.empty()) return events;
  return pfm_name(name);
}

// NAME:modifiers, group:name, EVENT:UMASK or pmu::EVENT, in this order.
Result<Resolver::Events> Resolver::with_colon(std::string_view name) {
  const auto first = name.find(':');
  const auto last = name.rfind(':');
  const std::string_view head = name.substr(0, first);
  if (name.find("::") != std::string_view::npos) return pfm_name(name);
  if (first == last) {
    LOFT_TRY(auto events, simple_name(head));
    if (!events.empty()) {
      if (last + 1 == name.size())
        return failure(ErrorKind::invalid_input, "read the modifiers of " + in_quotes(name),
                       "none follows the colon");
      LOFT_CHECK(apply_modifiers(events, name.substr(last + 1), name));
      return events;
    }
  }
  const bool has_modifiers = first != last && looks_like_modifiers(name.substr(last + 1));
  const std::string_view tail =
      name.substr(first + 1, has_modifiers ? last - first - 1 : std::string_view::npos);
  auto traced = tracepoint(head, tail);
  if (traced) {
    LOFT_CHECK(apply_modifiers(*traced, has_modifiers ? name.substr(last + 1) : "", name));
    return traced;
  }
  LOFT_TRY(auto events, pfm_name(name));
  // Nobody knows the name. When tracefs could not be asked, that is what there is to say, unless it
  // is written as vendors write events: groups of tracepoints have small letters.
  const bool may_be_traced =
      std::ranges::none_of(head, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (events.empty() && may_be_traced && traced.error().kind != ErrorKind::not_found) return traced;
  return events;
}

Result<Resolver::Events> Resolver::with_scheme(std::string_view scheme, std::string_view rest) {
  const std::string name = std::string(scheme) + ":" + std::string(rest);
  LOFT_CHECK(check_name(rest));
  if (scheme == "pfm") {
    LOFT_TRY(Event event, pfm_encoding(rest));
    return named(std::move(event), name);
  }
  std::string_view base = rest;
  std::string_view modifiers;
  if (const auto colon = rest.rfind(':');
      colon != std::string_view::npos && (scheme != "tracepoint" || colon != rest.find(':'))) {
    base = rest.substr(0, colon);
    modifiers = rest.substr(colon + 1);
  }
  Result<Events> events = Events{};
  if (scheme == "raw") {
    events = raw_digits(base.starts_with('r') ? base.substr(1) : base);
  } else if (scheme == "tracepoint") {
    const auto colon = base.find(':');
    events = tracepoint(base.substr(0, colon),
                        colon == std::string_view::npos ? "" : base.substr(colon + 1));
  } else {
    LOFT_TRY(const auto parts, split_pmu_name(rest));
    if (parts) return pmu_terms(*parts);
    events = sysfs_name(base);
  }
  if (!events) return events;
  if (events->empty()) return unknown(name);
  LOFT_CHECK(apply_modifiers(*events, modifiers, name));
  return events;
}

// Names without colon and slash, cheapest first; libpfm4 comes after all of them.
Result<Resolver::Events> Resolver::simple_name(std::string_view name) {
  if (const auto found = find_kernel_event(name)) {
    Events events = kernel_events(*found);
    if (events.size() == 1) events.front().name = name;
    return events;
  }
  LOFT_TRY(auto events, sysfs_name(name));
  if (!events.empty()) return events;
  if (name.starts_with("PAPI_")) return preset_name(name);
  if (name.starts_with('r') && parse_hex(name.substr(1))) {
    LOFT_TRY(events, raw_digits(name.substr(1)));
    events.front().name = name;
    return events;
  }
  return own_name(name);
}

Resolver::Events Resolver::kernel_events(const KernelEvent& found) {
  Event event;
  event.name = found.name;
  event.encoding = {"software", found.type, found.config, 0, 0};
  event.origin = "kernel";
  event.description = found.description;
  event.unit = found.unit;
  if (!found.is_hardware()) return {event};

  const auto& cores = pmus_.core_names();
  event.encoding.pmu = cores.empty() ? "cpu" : cores.front();
  if (cores.size() < 2) return {event};
  Events events;
  for (const std::string& core : cores) {
    const auto pmu = pmus_.find(core);
    if (!pmu) continue;
    event.name = core + "/" + found.name + "/";
    event.encoding.pmu = core;
    event.encoding.config = found.config | std::uint64_t{pmu->type()} << kPmuTypeShift;
    events.push_back(event);
  }
  return events;
}

Result<Event> Resolver::one_of_pmu(const std::string& pmu_name, std::string_view terms) {
  LOFT_TRY(const Pmu pmu, pmus_.find(pmu_name));
  const auto& cores = pmus_.core_names();
  const bool is_core = std::find(cores.begin(), cores.end(), pmu_name) != cores.end();
  if (is_core && !pmu.has_event(terms)) {
    // perf also takes the kernel's names between the slashes of a core PMU.
    if (const auto found = find_kernel_event(terms); found && found->is_hardware()) {
      for (Event& event : kernel_events(*found))
        if (event.encoding.pmu == pmu_name) return event;
    }
    if (terms.starts_with('r') && parse_hex(terms.substr(1)))
      return pmu.encode("config=0x" + std::string(terms.substr(1)));
  }
  LOFT_TRY(Event event, pmu.encode(terms));
  event.origin = "sysfs";
  return event;
}

Result<Resolver::Events> Resolver::pmu_terms(const PmuName& parts) {
  const std::string_view whole(parts.pmu.data(), parts.pmu.size() + parts.terms.size() + 2);
  std::vector<std::string> names = pmus_.matching(parts.pmu);
  if (names.empty()) {
    LOFT_TRY(const Pmu pmu, pmus_.find(parts.pmu));  // explains what is missing
    names.push_back(pmu.name());
  }
  Events events;
  for (const std::string& name : names) {
    LOFT_TRY(Event event, one_of_pmu(name, parts.terms));
    event.name =
        name == parts.pmu ? std::string(whole) : name + "/" + std::string(parts.terms) + "/";
    if (event.origin.empty()) event.origin = "sysfs";
    events.push_back(std::move(event));
  }
  LOFT_CHECK(apply_modifiers(events, parts.modifiers, whole));
  return events;
}

Result<Resolver::Events> Resolver::sysfs_name(std::string_view name) {
  std::vector<std::string> owners;
  for (const std::string& candidate : pmus_.names()) {
    const auto pmu = pmus_.find(candidate);
    if (pmu && pmu->has_event(name)) owners.push_back(candidate);
  }
  if (owners.empty()) return Events{};
  std::set<std::string_view> stems;
  for (const std::string& owner : owners) stems.insert(pmu_stem(owner));
  if (stems.size() > 1) {
    std::vector<std::string> choices;
    for (const std::string_view stem : stems)
      choices.push_back(std::string(stem) + "/" + std::string(name) + "/");
    return failure(ErrorKind::invalid_input, "find the event " + in_quotes(name),
                   "several PMUs publish one of this name", "choose from " + join(choices, ", "));
  }
  Events events;
  for (const std::string& owner : owners) {
    LOFT_TRY(Event event, one_of_pmu(owner, name));
    event.name = owners.size() == 1 ? std::string(name) : owner + "/" + std::string(name) + "/";
    events.push_back(std::move(event));
  }
  return events;
}

Result<Resolver::Events> Resolver::tracepoint(std::string_view group, std::string_view name) {
  LOFT_TRY(Event event, find_tracepoint(options_.root, group, name));
  return named(std::move(event), std::string(group) + ":" + std::string(name));
}

Result<Encoding> Resolver::core_encoding(std::uint64_t config) {
  const auto& cores = pmus_.core_names();
  if (cores.empty()) return Encoding{"cpu", kTypeRaw, config, 0, 0};
  for (const std::string& core : cores) {
    LOFT_TRY(const Pmu pmu, pmus_.find(core));
    if (cores.size() == 1 || pmu.type() == kTypeRaw)
      return Encoding{core, pmu.type(), config, 0, 0};
  }
  return failure(ErrorKind::invalid_input, "encode a raw event",
                 "this machine has several kinds of cores: " + join(cores, ", "),
                 "write " + cores.front() + "/config=0x.../");
}

Result<Resolver::Events> Resolver::raw_digits(std::string_view digits) {
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  const auto config = parse_hex(digits);
  if (!config)
    return failure(ErrorKind::invalid_input, "read the raw event " + in_quotes(digits),
                   "it is not a hexadecimal number of at most 64 bits", "write it like r01c2");
  Event event;
  LOFT_TRY(event.encoding, core_encoding(*config));
  event.origin = "raw";
  event.description = "Raw event of the core PMU";
  return named(std::move(event), "raw:" + std::string(digits));
}

Result<Resolver::Events> Resolver::virtual_name(std::string_view name) {
  std::string_view base = name.substr(kVirtualPrefix.size());
  if (base.find(':') != std::string_view::npos)
    return failure(ErrorKind::invalid_input, "read the modifiers of " + in_quotes(name),
                   "the virtual PMU counts user code alone", "leave the modifier out");
  auto event = find_virtual(base);
  if (!event) return unknown(name);
  return named(*std::move(event), name);
}

std::optional<Event> Resolver::find_virtual(std::string_view name) const {
  if (options_.virtual_names == nullptr) return std::nullopt;
  const std::vector<VirtualName>& names = options_.virtual_names();
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const VirtualName& entry) { return entry.name == name; });
  if (found == names.end()) return std::nullopt;
  Event event;
  event.encoding = virtual_encoding(found->index);
  event.modifiers.kernel = event.modifiers.hypervisor = false;
  event.origin = "virtual PMU";
  event.description = found->description;
  event.unit = found->unit;
  return event;
}

Failure Resolver::unknown(std::string_view name) {
  std::vector<std::string> known;
  for (const KernelEvent& event : all_kernel_events()) {
    known.push_back(event.name);
    known.insert(known.end(), event.aliases.begin(), event.aliases.end());
  }
  for (const std::string& candidate : pmus_.names())
    if (const auto pmu = pmus_.find(candidate)) {
      const auto events = pmu->event_names();
      known.insert(known.end(), events.begin(), events.end());
    }
  if (const auto own = definitions())
    for (const Definition& definition : (*own)->all()) known.push_back(definition.name);
  if (const auto presets = this->presets())
    for (const Preset& preset : (*presets)->all()) known.push_back(preset.name);
  const bool has_colon = name.find(':') != std::string_view::npos;
  if (has_colon)
    if (const auto traced = list_tracepoints(options_.root))
      known.insert(known.end(), traced->begin(), traced->end());
  if (options_.virtual_names != nullptr)
    for (const VirtualName& entry : options_.virtual_names())
      known.push_back(options_.plain_names == PlainNames::never_virtual
                          ? std::string(kVirtualPrefix) + entry.name
                          : entry.name);
  const auto near = nearest(name, known);
  return failure(
      ErrorKind::not_found, "find the event " + in_quotes(name), "nothing here has this name",
      near.empty() ? "'loft list' shows all names" : "did you mean " + join(near, ", ") + "?");
}

}  // namespace loft::event
