#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "event/resolver.hpp"
#include "source/checks/checks.hpp"
#include "source/checks/trial.hpp"
#include "source/perf_events/open.hpp"

namespace loft::source::checks {
namespace {

using Status = Check::Status;

// The kernel's own kinds are probed one by one elsewhere.
bool is_probed_elsewhere(const std::string& pmu) {
  return pmu == "software" || pmu == "tracepoint" || pmu == "breakpoint" || pmu == "power" ||
         pmu == "uprobe" || pmu == "kprobe";
}

// Adds `added` to the count of what was counted; an event that cannot be opened tells why.
struct PmuTrial {
  std::size_t counting = 0;
  std::size_t silent = 0;
  std::string refusal;
  std::string hint;
};

PmuTrial try_events(event::Resolver& resolver, const std::string& pmu,
                    const std::vector<std::string>& names) {
  constexpr std::size_t kEnough = 8;  // of some hundred that behave alike
  PmuTrial trial;
  for (const std::string& name : names) {
    if (name.find('.') != std::string::npos) continue;  // .scale and .unit
    if (trial.counting + trial.silent == kEnough) break;
    const auto event = resolver.resolve(pmu + "/" + name + "/");
    if (!event) {
      trial.refusal = event.error().why;
      continue;
    }
    const perf_events::Place place = event->cpus.empty()
                                         ? perf_events::Place{0, -1}
                                         : perf_events::Place{-1, event->cpus.front()};
    const auto reading = count_during(*event, keep_busy, place);
    if (!reading) {
      trial.refusal = reading.error().why;
      trial.hint = reading.error().hint;
    } else {
      ++(reading->value > 0 ? trial.counting : trial.silent);
    }
  }
  return trial;
}

Check check_pmu(event::Resolver& resolver, const std::string& pmu, const SystemRoot& root) {
  const std::string id = "pmu-" + pmu;
  const std::string title = "PMU '" + printable(pmu) + "'";
  const auto names = list_directory(root.at("/sys/bus/event_source/devices/" + pmu + "/events"));
  if (!names || names->empty())
    return {id, title, Status::limited,
            "publishes no event by name: use its terms, " + printable(pmu) + "/.../", ""};
  const PmuTrial trial = try_events(resolver, pmu, *names);
  if (trial.counting > 0)
    return {id, title, trial.silent > 0 ? Status::limited : Status::ok,
            trial.silent > 0 ? fmt::format("{} of the tried events count, {} open but stay 0",
                                           trial.counting, trial.silent)
                             : fmt::format("all {} tried events count", trial.counting),
            ""};
  if (trial.silent > 0) return {id, title, Status::missing, "its events open but stay 0", ""};
  return {id, title, Status::missing, trial.refusal, trial.hint};
}

}  // namespace

std::vector<Check> other_pmus(const SystemRoot& root) {
  std::vector<Check> checks;
  const auto pmus = list_directory(root.at("/sys/bus/event_source/devices"));
  if (!pmus)
    return {{"pmus", "PMUs", Status::missing, pmus.error().why,
             "mount sysfs, or let the container see /sys"}};
  event::Resolver resolver(root);
  for (const std::string& pmu : *pmus)
    if (!is_probed_elsewhere(pmu)) checks.push_back(check_pmu(resolver, pmu, root));
  return checks;
}

}  // namespace loft::source::checks
