#include "source/perf_events/layout.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace loft::source::perf_events {
namespace {

bool is_software(const event::Event& event) { return event.encoding.type == PERF_TYPE_SOFTWARE; }

// Clocks run in every mode: leaving out the kernel changes nothing they count.
bool is_clock(const event::Event& event) {
  return is_software(event) && (event.encoding.config == PERF_COUNT_SW_CPU_CLOCK ||
                                event.encoding.config == PERF_COUNT_SW_TASK_CLOCK);
}

// These happen inside the kernel; in user mode alone they would read 0, which is not their count.
bool happens_in_kernel(const event::Event& event) {
  return is_software(event) && (event.encoding.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                event.encoding.config == PERF_COUNT_SW_CPU_MIGRATIONS ||
                                event.encoding.config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

// "cycles" gives "cycles:u", "cpu/event=1/" gives "cpu/event=1/u".
std::string user_only_name(const std::string& name) {
  if (name.ends_with('/')) return name + "u";
  const auto slash = name.rfind('/');
  const auto colon = name.rfind(':');
  const bool has_modifier = slash != std::string::npos ||
                            (colon != std::string::npos && name.size() - colon <= 4 &&
                             name.find_first_not_of("ukhp", colon + 1) == std::string::npos);
  return name + (has_modifier ? "u" : ":u");
}

event::Event user_only(event::Event event) {
  event.modifiers.kernel = event.modifiers.hypervisor = false;
  if (!is_clock(event)) event.name = user_only_name(event.name);
  return event;
}

bool concerns_all_events(const Error& error) {
  return error.kind == ErrorKind::not_found ||
         (error.kind == ErrorKind::limit && error.why.starts_with("EMFILE"));
}

class LayoutTrial {
 public:
  LayoutTrial(TriedLayout& tried, Place place, const AttrOptions& options)
      : tried_(tried), place_(place), options_(options) {}

  Result<void> try_group(const EventGroup& wanted) {
    Group group;
    std::vector<std::size_t> members;
    std::vector<std::size_t> apart;
    for (const std::size_t i : wanted.members) {
      auto added = add_permitted(group, tried_.layout.events[i], place_, options_);
      if (added) {
        members.push_back(i);
      } else if (concerns_all_events(added.error())) {
        return added;
      } else if (added.error().kind == ErrorKind::limit && !members.empty()) {
        if (wanted.keep_together) return refuse(wanted, added.error());
        apart.push_back(i);
      } else {
        tried_.layout.missing[i] = std::move(added).error();
      }
    }
    if (!wanted.keep_together && is_hardware_group(members) && !fit_together(events_of(members))) {
      apart.insert(apart.begin(), members.begin() + 1, members.end());
      members.resize(1);
      group = Group();
      LOFT_CHECK(group.add(tried_.layout.events[members[0]], place_, options_));
    }
    if (!members.empty()) keep(std::move(members), std::move(group));
    for (const std::size_t i : apart) LOFT_CHECK(try_group({{i}, false}));
    return {};
  }

 private:
  bool is_hardware_group(const std::vector<std::size_t>& members) const {
    std::size_t hardware = 0;
    for (const std::size_t i : members) hardware += is_software(tried_.layout.events[i]) ? 0 : 1;
    return hardware > 1;
  }

  std::vector<event::Event> events_of(const std::vector<std::size_t>& members) const {
    std::vector<event::Event> events;
    for (const std::size_t i : members) events.push_back(tried_.layout.events[i]);
    return events;
  }

  Result<void> refuse(const EventGroup& wanted, const Error& error) {
    for (const std::size_t i : wanted.members) tried_.layout.missing[i] = error;
    return {};
  }

  void keep(std::vector<std::size_t> members, Group group) {
    tried_.layout.groups.push_back(std::move(members));
    tried_.groups.push_back(std::move(group));
  }

  TriedLayout& tried_;
  Place place_;
  const AttrOptions& options_;
};

}  // namespace

std::string Layout::why_missing(std::size_t event) const {
  const Error& error = *missing[event];
  return error.hint.empty() ? error.why : error.why + "; " + error.hint;
}

Result<void> Layout::require_some() const {
  for (const auto& reason : missing)
    if (!reason) return {};
  if (missing.empty()) return failure(ErrorKind::invalid_input, "count", "no event was asked for");
  return Failure(*missing.front());
}

std::optional<std::string> Layout::permission_note(const std::vector<event::Event>& wanted) const {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].modifiers.kernel || !wanted[i].modifiers.kernel) continue;
    const auto level = paranoid_level();
    return fmt::format("user mode only (:u): perf_event_paranoid is {} and loft has no CAP_PERFMON",
                       level ? std::to_string(*level) : "not readable");
  }
  return std::nullopt;
}

bool fit_together(const std::vector<event::Event>& events) {
  Group trial;
  for (event::Event event : events) {
    const auto added = add_permitted(trial, event, Place{0, -1}, AttrOptions{});
    if (added) continue;
    return added.error().kind != ErrorKind::limit || trial.is_empty();
  }
  if (trial.is_empty() || !trial.enable()) return true;
  // Some PMUs accept a group that is too large and then never run it.
  const auto readings = trial.read();
  return !readings || readings->front().running.count() > 0;
}

Result<void> add_permitted(Group& group, event::Event& event, Place place,
                           const AttrOptions& options) {
  auto added = group.add(event, place, options);
  const bool may_shrink = event.modifiers.user && event.modifiers.kernel && event.cpus.empty();
  if (added || added.error().kind != ErrorKind::permission || !may_shrink) return added;
  event::Event smaller = user_only(event);
  if (happens_in_kernel(event)) {
    added.error().why += ", and this happens nowhere else";
    return added;
  }
  if (auto retried = group.add(smaller, place, options); !retried) {
    // Some PMUs cannot count user mode alone. Then permission is what is missing.
    return retried.error().kind == ErrorKind::invalid_input ? added : retried;
  }
  event = std::move(smaller);
  return {};
}

Result<TriedLayout> try_layout(const std::vector<event::Event>& events,
                               const std::vector<EventGroup>& groups, Place place,
                               const AttrOptions& options) {
  TriedLayout tried;
  tried.layout.events = events;
  tried.layout.missing.resize(events.size());
  LayoutTrial trial(tried, place, options);
  for (const EventGroup& group : groups) LOFT_CHECK(trial.try_group(group));
  return tried;
}

Result<OpenGroups> open_layout(const Layout& layout, Place place, const AttrOptions& options) {
  OpenGroups opened;
  for (const auto& members : layout.groups) {
    Group group;
    for (const std::size_t i : members) LOFT_CHECK(group.add(layout.events[i], place, options));
    opened.push_back(std::move(group));
  }
  return opened;
}

}  // namespace loft::source::perf_events
