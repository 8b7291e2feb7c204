#include "top/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "source/groups.hpp"
#include "source/perf_events/layout.hpp"

namespace loft::top {
namespace {

using source::perf_events::Group;
using source::perf_events::Layout;
using source::perf_events::OpenGroups;

class PerfCounters : public CoreCounters {
 public:
  PerfCounters(std::vector<std::vector<std::size_t>> members, OpenGroups groups)
      : members_(std::move(members)), groups_(std::move(groups)) {}

  bool start() noexcept override {
    return std::ranges::all_of(groups_, [](const Group& group) { return !!group.enable(); });
  }

  bool stop() noexcept override {
    return std::ranges::all_of(groups_, [](const Group& group) { return !!group.disable(); });
  }

  bool read(std::span<RawReading> readings) noexcept override {
    std::array<RawReading, kMostEvents> of_group;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::span<RawReading> all(of_group.data(), members_[g].size());
      if (!groups_[g].read_into(all)) return false;
      for (std::size_t k = 0; k < all.size(); ++k) readings[members_[g][k]] = all[k];
    }
    return true;
  }

 private:
  std::vector<std::vector<std::size_t>> members_;  // of each group, positions of its events
  OpenGroups groups_;
};

// Why an event has no counter on this core, before anybody tries; empty where it may have one.
std::string excluded(const event::Event& event, int cpu) {
  if (!event.uncountable.empty()) return event.uncountable;
  if (event.encoding.is_virtual()) return "the virtual PMU counts programs that it runs, not cores";
  if (!event.cpus.empty() && std::ranges::find(event.cpus, cpu) == event.cpus.end())
    return fmt::format("it counts for a whole package, on CPU {}", format_cpu_list(event.cpus));
  return {};
}

// Software events never wait for a counter: all of them become one group, which one call reads.
void join_software(std::vector<source::EventGroup>& groups,
                   const std::vector<event::Event>& events) {
  source::EventGroup joined;
  std::erase_if(groups, [&](const source::EventGroup& group) {
    const bool is_software = std::ranges::all_of(group.members, [&](std::size_t i) {
      return events[i].encoding.kind() == event::PmuKind::software;
    });
    if (!is_software || group.keep_together) return false;
    joined.members.insert(joined.members.end(), group.members.begin(), group.members.end());
    return true;
  });
  if (!joined.members.empty()) groups.push_back(std::move(joined));
}

}  // namespace

bool CoreSet::counts_something() const {
  return std::ranges::any_of(why_missing, &std::string::empty);
}

Result<CoreSet> open_on_core(metric::Request request, int cpu) {
  if (request.events.size() > kMostEvents)
    return failure(
        ErrorKind::limit, "count on a core",
        fmt::format("{} events are too many, {} are the most", request.events.size(), kMostEvents));
  LOFT_TRY(auto groups, source::groups_of(request.events));
  CoreSet opened;
  opened.why_missing.resize(request.events.size());
  for (std::size_t i = 0; i < request.events.size(); ++i)
    opened.why_missing[i] = excluded(request.events[i], cpu);
  for (source::EventGroup& group : groups)
    std::erase_if(group.members, [&](std::size_t i) { return !opened.why_missing[i].empty(); });
  std::erase_if(groups, [](const source::EventGroup& group) { return group.members.empty(); });
  join_software(groups, request.events);

  LOFT_TRY(auto tried, source::perf_events::try_layout(request.events, groups, {-1, cpu}, {}));
  const Layout& layout = tried.layout;
  for (std::size_t i = 0; i < layout.events.size(); ++i) {
    if (layout.missing[i]) opened.why_missing[i] = layout.why_missing(i);
    opened.frame.events.push_back(sample::CountedEvent::of(layout.events[i]));
    opened.frame.events.back().whole_machine = true;
  }
  opened.counters = std::make_unique<PerfCounters>(layout.groups, std::move(tried.groups));
  opened.request = std::move(request);
  return opened;
}

}  // namespace loft::top
