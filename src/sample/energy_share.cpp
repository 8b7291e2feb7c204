#include "sample/energy_share.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "event/recording_schema.hpp"

namespace loft::sample {
namespace {

constexpr double kMicro = 1e6;

// Functions of a path, outermost first, without its event.
std::vector<std::uint32_t> path_to(const Trie& tree, Trie::NodeId node) {
  std::vector<std::uint32_t> path;
  for (; node != Trie::kRoot && tree[node].parent != Trie::kRoot; node = tree[node].parent)
    path.push_back(tree[node].key);
  return {path.rbegin(), path.rend()};
}

// Moves weights from the row of a meter's own readings to those that share it.
class MeterRows {
 public:
  MeterRows(std::uint32_t meter, std::uint32_t without_address, ProfileResult& result)
      : result_(result),
        row_(result.rows.child(Trie::kRoot, meter)),
        tree_(result.tree.child(Trie::kRoot, meter)),
        own_row_(result.rows.child(row_, without_address)),
        own_node_(result.tree.child(tree_, without_address)) {}

  void move(const std::vector<std::uint32_t>& path, const Weight& weight) {
    const Weight taken{0, weight.period};
    const Trie::NodeId row = result_.rows.child(row_, path.back());
    result_.rows.add(row, weight);
    result_.rows.take(own_row_, taken);
    Trie::NodeId node = tree_;
    for (const std::uint32_t function : path) node = result_.tree.child(node, function);
    result_.tree.add(node, weight);
    result_.tree.take(own_node_, taken);
    if (!result_.inclusive.empty()) move_inclusive(path, weight, taken);
  }

  // Where nothing is left without an address, there is no such row.
  void finish() {
    for (auto [trie, node] : {std::pair(&result_.rows, own_row_), {&result_.tree, own_node_}})
      if ((*trie)[node].self.period == 0) trie->take(node, (*trie)[node].self);
    if (result_.inclusive.empty() || result_.inclusive[own_row_].period != 0) return;
    result_.inclusive[own_row_] = {};
  }

 private:
  void move_inclusive(const std::vector<std::uint32_t>& path, const Weight& weight,
                      const Weight& taken) {
    const std::set<std::uint32_t> functions(path.begin(), path.end());  // a recursive one once
    for (const std::uint32_t function : functions) {
      const Trie::NodeId row = result_.rows.child(row_, function);
      if (row >= result_.inclusive.size()) result_.inclusive.resize(row + 1);
      result_.inclusive[row] += weight;
    }
    result_.inclusive[own_row_].period -= taken.period;
  }

  ProfileResult& result_;
  Trie::NodeId row_, tree_, own_row_, own_node_;
};

std::optional<std::uint32_t> event_of_places(const std::vector<ReportEvent>& events) {
  for (const std::uint32_t i : shown_order(events))
    if (!events[i].is_energy && events[i].total.samples != 0 &&
        event::recording::has_address(events[i].name))
      return i;
  return std::nullopt;
}

void share_meter(std::uint32_t meter, std::uint32_t by, ProfileResult& result) {
  std::vector<EnergySeen> course;
  std::vector<PlacedWeight> samples;
  std::uint32_t without_address = 0;
  for (const TimelineEntry& entry : result.timeline.entries()) {
    const double seconds = static_cast<double>(entry.time) * 1e-9;
    if (entry.event == by)
      samples.push_back({seconds, entry.node, static_cast<double>(entry.period)});
    if (entry.event != meter) continue;
    course.push_back({seconds, static_cast<double>(entry.period) / kMicro});
    without_address = result.tree[entry.node].key;
  }
  std::ranges::sort(course, {}, &EnergySeen::seconds);
  for (std::size_t i = 1; i < course.size(); ++i) course[i].joules += course[i - 1].joules;
  MeterRows rows(meter, without_address, result);
  // Rounded along the way, so that the microjoules of all are those of the meter.
  double exact = 0;
  std::uint64_t told = 0;
  for (const auto& [node, share] : share_energy(course, std::move(samples)).of_place) {
    exact += share.joules * kMicro;
    const auto now = static_cast<std::uint64_t>(std::llround(exact));
    rows.move(path_to(result.tree, node), {share.samples, now - told});
    told = now;
  }
  rows.finish();
}

}  // namespace

EnergyShares share_energy(std::span<const EnergySeen> course, std::vector<PlacedWeight> samples) {
  std::ranges::stable_sort(samples, {}, &PlacedWeight::seconds);
  EnergyShares shares;
  auto next = samples.begin();
  double before = 0;
  for (const EnergySeen& seen : course) {
    const auto end = std::find_if(next, samples.end(), [&](const PlacedWeight& sample) {
      return sample.seconds > seen.seconds;
    });
    double all = 0;
    for (auto sample = next; sample != end; ++sample) all += sample->weight;
    const double joules = seen.joules - before;
    before = seen.joules;
    if (all <= 0) shares.joules_of_nobody += joules;
    for (; next != end; ++next) {
      if (all <= 0) continue;
      EnergyShare& share = shares.of_place[next->place];
      share.joules += joules * next->weight / all;
      ++share.samples;
    }
  }
  return shares;
}

std::optional<std::uint32_t> share_meters(const std::vector<ReportEvent>& events,
                                          ProfileResult& result) {
  const auto by = event_of_places(events);
  if (!by || result.timeline.step() != 1) return std::nullopt;
  bool any = false;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (!events[i].is_energy || events[i].total.samples == 0) continue;
    share_meter(i, *by, result);
    any = true;
  }
  return any ? by : std::nullopt;
}

}  // namespace loft::sample
