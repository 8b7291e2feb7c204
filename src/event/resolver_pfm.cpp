// The part of the resolver that asks libpfm4.
#include "base/text.hpp"
#include "event/pfm.hpp"
#include "event/resolver.hpp"

namespace loft::event {
namespace {

bool is_foreign_tree(const ResolverOptions& options) {
  return !options.root.is_live() && options.pretended_pmu.empty();
}

// libpfm4 excludes the hypervisor wherever a PMU cannot count it. That is no wish of the user.
Modifiers as_wished(const Modifiers& reported) {
  if (!reported.user || !reported.kernel) return reported;
  Modifiers plain;
  plain.precise = reported.precise;
  return plain;
}

}  // namespace

Result<Event> Resolver::pfm_encoding(std::string_view name) {
  if (is_foreign_tree(options_))
    return failure(ErrorKind::unsupported, "encode " + in_quotes(name),
                   "libpfm4 knows only the machine that it runs on");
  LOFT_TRY(Pfm* const pfm, Pfm::instance());
  const auto encode = [&](std::string_view text) -> Result<Event> {
    if (options_.pretended_pmu.empty()) return pfm->encode(text);
    LOFT_TRY(const PfmPmu pmu, pfm->find_pmu(options_.pretended_pmu));
    return pfm->encode_as(pmu, text);
  };

  auto event = encode(name);
  if (const auto colon = name.rfind(':');
      !event && colon != std::string_view::npos && looks_like_modifiers(name.substr(colon + 1))) {
    LOFT_TRY(const Modifiers modifiers, parse_modifiers(name.substr(colon + 1), name));
    LOFT_TRY(event, encode(name.substr(0, colon)));
    event->modifiers = modifiers;
  } else if (event) {
    event->modifiers = as_wished(event->modifiers);
  }
  if (!event) return event;
  if (options_.pretended_pmu.empty()) {
    LOFT_TRY(event->encoding, kernel_pmu_of(event->encoding));
    if (const auto pmu = pmus_.find(event->encoding.pmu)) event->cpus = pmu->cpus();
  }
  event->name = name;
  return event;
}

// libpfm4 recognises CPUs; whether the kernel offers their PMU is another matter.
Result<Encoding> Resolver::kernel_pmu_of(const Encoding& pfm) {
  Encoding encoding = pfm;
  const std::string what = "encode for the PMU " + in_quotes(pfm.pmu);
  switch (pfm.type) {
    case kTypeSoftware:
      encoding.pmu = "software";
      return encoding;
    case kTypeTracepoint:
      encoding.pmu = "tracepoint";
      return encoding;
    case kTypeHardware:
    case kTypeHwCache:
      encoding.pmu = pmus_.core_names().empty() ? "cpu" : pmus_.core_names().front();
      return encoding;
    case kTypeRaw: {
      if (pmus_.core_names().empty())
        return failure(ErrorKind::unsupported, what,
                       "the kernel offers no hardware counters on this machine",
                       "'loft list' shows what can be counted; or try --source virtual");
      LOFT_TRY(const Encoding core, core_encoding(pfm.config));
      encoding.pmu = core.pmu;
      encoding.type = core.type;
      return encoding;
    }
    default:
      break;
  }
  for (const std::string& name : pmus_.names()) {
    const auto pmu = pmus_.find(name);
    if (!pmu || pmu->type() != pfm.type) continue;
    encoding.pmu = name;
    return encoding;
  }
  return failure(ErrorKind::unsupported, what, "the kernel does not offer this PMU");
}

// Published metrics write events as vendors do, EVENT.UMASK, or as LIKWID does, EVENT_UMASK, and
// both have names of their own for the counters that only count one thing.
Resolver::Events Resolver::other_spelling(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kFixed[] = {
      {"INST_RETIRED.ANY", "instructions"},       {"INSTR_RETIRED_ANY", "instructions"},
      {"CPU_CLK_UNHALTED.THREAD", "cycles"},      {"CPU_CLK_UNHALTED.CORE", "cycles"},
      {"CPU_CLK_UNHALTED_CORE", "cycles"},        {"CPU_CLOCKS_UNHALTED", "cycles"},
      {"CPU_CLK_UNHALTED.REF_TSC", "ref-cycles"}, {"CPU_CLK_UNHALTED_REF", "ref-cycles"},
      {"ACTUAL_CPU_CLOCK", "msr/aperf/"},         {"MAX_CPU_CLOCK", "msr/mperf/"},
  };
  for (const auto& [theirs, ours] : kFixed) {
    if (theirs != name) continue;
    auto events = resolve_item(ours);
    if (!events) return {};
    if (events->size() == 1) events->front().name = name;
    return *std::move(events);
  }
  const auto end = std::min(name.find(':'), name.size());
  for (std::size_t i = end; i-- > 1;) {
    if (name[i] != '_') continue;
    std::string split(name);
    split[i] = ':';
    auto event = pfm_encoding(split);
    if (!event) continue;
    event->name = name;
    return {*std::move(event)};
  }
  return {};
}

Result<Resolver::Events> Resolver::pfm_name(std::string_view name) {
  if (is_foreign_tree(options_) || !Pfm::instance()) return Events{};
  auto event = pfm_encoding(name);
  if (event) return Events{*std::move(event)};
  if (auto other = other_spelling(name); !other.empty()) return other;
  // "pmu::EVENT" can mean nothing else, so libpfm4's own words help most.
  const bool only_pfm = name.find("::") != std::string_view::npos;
  if (event.error().kind == ErrorKind::not_found && !only_pfm) return Events{};
  return tl::make_unexpected(event.error());
}

}  // namespace loft::event
