#include "machine/knees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace loft::machine {
namespace {

// A stretch ends where the cost has grown by this factor over its start...
constexpr double kStep = 1.30;
// ...and is a level only if it spans at least this factor of sizes.
constexpr double kShortest = 1.9;

std::vector<model::Cache> data_caches(const std::vector<model::Cache>& claimed) {
  std::vector<model::Cache> caches;
  for (const model::Cache& cache : claimed)
    if (cache.type != "Instruction" && (caches.empty() || caches.back().level != cache.level))
      caches.push_back(cache);
  return caches;
}

// Inside the level, but beyond what the level before could hold.
std::uint64_t test_size(std::uint64_t knee, std::uint64_t held_before) {
  const std::uint64_t most = knee / 4 * 3;
  const std::uint64_t size = std::clamp(knee / 2, std::min(2 * held_before, most), most);
  return size / 4096 * 4096;
}

// What a level may still hold of a larger working set: a cache that others share, or whose pages
// collide, shows its knee early and yet keeps most of what its claim says.
std::uint64_t may_hold(const model::Level& level, std::uint64_t next_knee) {
  return level.claimed < next_knee ? std::max(level.knee, level.claimed) : level.knee;
}

// The plateau of a cache that claims `claimed` bytes, among those from `next` on: the last one that
// ends inside the claim, or not far beyond. Where none does, the claim is too small if there are
// plateaus enough for all caches that are left, and otherwise this cache does not show.
std::size_t plateau_of(const std::vector<Plateau>& plateaus, std::size_t next, std::size_t found,
                       std::uint64_t claimed, std::size_t caches_left) {
  std::size_t match = found;
  for (std::size_t i = next; i < found; ++i)
    if (plateaus[i].last <= claimed + claimed / 2) match = i;
  if (match == found && found - next >= caches_left) match = next;
  return match;
}

}  // namespace

std::vector<Plateau> find_plateaus(const std::vector<model::SweepPoint>& sweep) {
  std::vector<double> cost(sweep.size());
  double least = INFINITY;
  for (std::size_t i = sweep.size(); i-- > 0;)
    cost[i] = least = std::min(least, sweep[i].latency_ns);
  std::vector<Plateau> plateaus;
  for (std::size_t start = 0; start < sweep.size();) {
    std::size_t end = start;
    while (end + 1 < sweep.size() && cost[end + 1] < cost[start] * kStep) ++end;
    const bool is_last = end + 1 == sweep.size();
    const bool is_long = static_cast<double>(sweep[end].bytes) >=
                         static_cast<double>(sweep[start].bytes) * kShortest;
    if (is_long || is_last) {
      plateaus.push_back({sweep[start].bytes, sweep[end].bytes, cost[start]});
      start = end + 1;
    } else {
      ++start;  // on the slope between two levels
    }
  }
  return plateaus;
}

std::vector<model::Level> levels_of(const std::vector<Plateau>& plateaus,
                                    const std::vector<model::Cache>& claimed,
                                    std::uint64_t memory_test_bytes) {
  const std::vector<model::Cache> caches = data_caches(claimed);
  const std::size_t found = plateaus.empty() ? 0 : plateaus.size() - 1;
  const std::size_t count = caches.empty() ? found : caches.size();
  std::vector<model::Level> levels;
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    model::Level level;
    level.name = fmt::format("L{}", caches.empty() ? static_cast<int>(i) + 1 : caches[i].level);
    level.claimed = caches.empty() ? 0 : caches[i].bytes;
    const std::size_t match =
        caches.empty() ? i : plateau_of(plateaus, next, found, level.claimed, count - i);
    level.found = match < found;
    level.knee = level.found ? plateaus[match].last : level.claimed;
    if (level.found) next = match + 1;
    level.test_bytes =
        test_size(level.knee, levels.empty() ? 0 : may_hold(levels.back(), level.knee));
    levels.push_back(level);
  }
  levels.push_back({"DRAM", 0, 0, memory_test_bytes, true});
  return levels;
}

}  // namespace loft::machine
