#include "source/perf_events/own_thread.hpp"

#include "source/perf_events/combine.hpp"

namespace loft::source::perf_events {
namespace {

// Every member straight from the hardware, or nothing: a group is read as a whole.
std::optional<std::vector<RawReading>> read_directly(const std::vector<UserReader>& readers) {
  std::vector<RawReading> readings;
  for (const UserReader& reader : readers) {
    const auto reading = reader.read();
    if (!reading) return std::nullopt;
    readings.push_back(*reading);
  }
  return readings;
}

}  // namespace

Result<OwnThreadCounters> OwnThreadCounters::open(const std::vector<event::Event>& events,
                                                  const std::vector<EventGroup>& groups) {
  LOFT_TRY(TriedLayout tried, try_layout(events, groups, Place{0, -1}, {.user_read = true}));
  if (tried.groups.empty()) {
    if (events.empty()) return failure(ErrorKind::invalid_input, "count", "no event was asked for");
    return Failure(*tried.layout.missing.front());
  }
  OwnThreadCounters counters(std::move(tried));
  for (const Group& group : counters.tried_.groups) {
    auto& readers = counters.readers_.emplace_back();
    for (std::size_t i = 0; i < group.size(); ++i)
      readers.push_back(UserReader::map(group.member(i)));
  }
  return counters;
}

Result<void> OwnThreadCounters::start() {
  for (const Group& group : tried_.groups) LOFT_CHECK(group.enable());
  return {};
}

Result<void> OwnThreadCounters::stop() {
  for (const Group& group : tried_.groups) LOFT_CHECK(group.disable());
  return {};
}

Result<std::vector<sample::Count>> OwnThreadCounters::read() const {
  const Layout& layout = tried_.layout;
  std::vector<sample::Count> counts(layout.events.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (layout.missing[i]) counts[i] = sample::Count::missing(layout.why_missing(i));
  for (std::size_t g = 0; g < tried_.groups.size(); ++g) {
    auto readings = read_directly(readers_[g]);
    if (!readings) {
      LOFT_TRY(readings, tried_.groups[g].read());
    }
    for (std::size_t k = 0; k < readings->size(); ++k)
      counts[layout.groups[g][k]] = count_of((*readings)[k]);
  }
  return counts;
}

}  // namespace loft::source::perf_events
