#include "source/file/survey_walk.hpp"

#include <algorithm>
#include <atomic>

#include "base/workers.hpp"
#include "source/file/record_contents.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

// Small chunks keep all threads busy to the end; large ones share fewer pages with their
// neighbours.
std::uint64_t chunk_of(const Region& region) {
  return region.bytes.size() < (128u << 20) ? 1u << 20 : 4u << 20;
}
constexpr std::uint64_t kSearch = 1u << 20;  // bytes in which a part looks for its first record

// A stretch from a record on, up to the first record that belongs to the next one.
struct Part {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  RegionWalk found;
};

Part walk_part(const Region& region, std::uint64_t start, std::uint64_t until, Progress* progress) {
  Part part;
  part.start = start;
  part.found.cuts.push_back(start);
  perf::RecordWalker walker(region.bytes, region.order, start);
  RawRecord record;
  const std::uint64_t chunk = chunk_of(region);
  while (walker.position() < until && walker.next(record)) {
    if (record.offset - part.found.cuts.back() >= chunk) {
      region.release(part.found.cuts.back(), record.offset);
      part.found.cuts.push_back(record.offset);
      if (progress != nullptr) progress->done += chunk;
    }
    ++part.found.counts[perf::slot_of_type(static_cast<std::uint32_t>(record.type))];
    if (record.type == RecordType::sample) continue;
    if (contents_of(record.type) != Contents::nothing) part.found.told.push_back(record.offset);
    part.found.found_packed |=
        record.type == RecordType::compressed || record.type == RecordType::compressed2;
  }
  part.end = walker.position();
  region.release(part.found.cuts.back(), part.end + Region::kAround);
  part.found.damages = walker.damages();
  return part;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append(RegionWalk& whole, const RegionWalk& part) {
  for (std::size_t slot = 0; slot < whole.counts.size(); ++slot)
    whole.counts[slot] += part.counts[slot];
  append(whole.cuts, part.cuts);
  append(whole.told, part.told);
  append(whole.damages, part.damages);
  whole.found_packed |= part.found_packed;
}

}  // namespace

RegionWalk walk_region(const Region& region, const WalkOptions& options, Progress* progress) {
  const std::uint64_t size = region.bytes.size();
  const bool is_shared_out = options.workers > 1 && size > options.part;
  const std::uint64_t step = is_shared_out ? options.part : std::max<std::uint64_t>(size, 1);
  std::vector<Part> parts((size + step - 1) / step);
  const auto until = [&](std::size_t i) { return std::min(size, (i + 1) * step); };

  std::atomic<std::size_t> next{0};
  const auto work = [&](unsigned) {
    for (std::size_t i = next++; i < parts.size(); i = next++) {
      const std::uint64_t from = i * step;
      const std::uint64_t start = i == 0 ? 0
                                         : perf::find_records(region.bytes, region.order, from,
                                                              std::min(until(i), from + kSearch));
      parts[i] = walk_part(region, start, until(i), progress);
    }
  };
  run_workers(static_cast<unsigned>(std::min<std::size_t>(options.workers, parts.size())), work);

  RegionWalk whole;
  std::uint64_t reached = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0 && reached >= until(i)) continue;  // the part before goes on through all of it
    if (parts[i].start != reached) parts[i] = walk_part(region, reached, until(i), nullptr);
    append(whole, parts[i].found);
    reached = parts[i].end;
  }
  if (whole.cuts.empty()) whole.cuts.push_back(0);
  return whole;
}

}  // namespace loft::source
