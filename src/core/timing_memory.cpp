// The memory side of a timing run: ports, translation, store buffer, misses, bandwidths.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/timing_run.hpp"

namespace loft::core {
namespace {

constexpr std::uint64_t kSmallPage = 4096;
constexpr std::uint64_t kGranule = 8;  // bytes: forwarding is looked up by words

bool has_index(Registers address) { return std::popcount(address) > 1; }

// How many words of an access are looked up, or marked as stored: those of the widest registers.
constexpr std::uint64_t kMostGranules = 9;

}  // namespace

Level TimingRun::level_of(const Access& access) const {
  switch (scenario_.unknown) {
    case Unknown::nearest:
      return brought_near(access.nearest);
    case Unknown::farthest:
      return brought_near(access.farthest);
    case Unknown::as_modelled:
      break;
  }
  return brought_near(access.level);
}

Cycle TimingRun::translate(const WindowAccess& access, Cycle at) {
  const Translation served = scenario_.unknown == Unknown::nearest ? access.translation.nearest
                                                                   : access.translation.served;
  if (served == Translation::first) return at;
  if (served == Translation::second) return at + second_tlb_;
  if (walk_ == 0) return at;
  // Independent walks to memory follow each other as quickly as others do.
  const Cycle busy = walk_ + walk_beyond_[static_cast<std::size_t>(access.translation.walked_from)];
  const bool is_far = level_of(access.cache) == Level::memory;
  return walkers_.take(now_, at, busy) + std::max(busy, is_far ? walk_to_memory_ : 0);
}

Cycle TimingRun::start_access(const Instruction& instruction, const WindowAccess& access,
                              Cycle at) {
  const Unit unit = access.is_store ? Unit::store : Unit::load;
  const Unit of_vectors = access.is_store ? Unit::vector_store : Unit::vector_load;
  auto& bytes = access.is_store ? l1_stores_ : l1_loads_;
  const Parameter& bandwidth = access.is_store ? core_.l1_store_bandwidth : core_.l1_load_bandwidth;
  // What one unit moves in a cycle.
  const auto width = static_cast<std::uint32_t>(
      bandwidth.value / core_.unit_count[static_cast<std::size_t>(of_vectors)].value);
  const std::uint64_t last = access.address + std::max(1u, access.size) - 1;
  const bool crosses = access.address / kLine != last / kLine && access.size <= kLine;
  for (int part = 0; part <= static_cast<int>(crosses); ++part) {
    at = start_on(unit, Cluster::none, at, 1);
    if (instruction.vector_bits != 0) at = start_on(of_vectors, Cluster::none, at, 1);
    const std::uint32_t size = part == 0 ? access.size : std::min(access.size, width);
    if (is_bandwidth_limited_[0]) at = bytes.take(now_, at, size);
  }
  return at;
}

Cycle TimingRun::load(const Instruction& instruction, const WindowAccess& access, Cycle at) {
  at = start_access(instruction, access, std::max(at, load_barrier_));
  at = translate(access, at);
  const Cycle extra = (instruction.vector_bits != 0 ? vector_load_extra_ : 0) +
                      (has_index(instruction.address_registers) ? indexed_load_extra_ : 0);
  const Cycle hit = level_latency_[0] + extra;
  if (const StoreRecord* from = last_store_to(access); from != nullptr && from->commit > at)
    return std::max(at + hit, forward(instruction, access, *from, at));
  return std::max(at + hit, line_ready(access, at) + extra);
}

// When a load has what a store that did not reach the cache yet writes.
Cycle TimingRun::forward(const Instruction& instruction, const WindowAccess& access,
                         const StoreRecord& from, Cycle at) {
  const bool covers = from.address <= access.address && access.address + access.size <= from.end;
  if (!covers) return data_of_all(access, at) + forward_blocked_.next();
  if (instruction.vector_bits != 0) return from.data + forward_vector_.next();
  constexpr std::uint32_t kWhole = 4;  // a narrower load keeps the rest of its register
  const bool renamed = access.size >= kWhole && is_renamed(instruction, from);
  return from.data + (renamed ? forward_renamed_ : forward_general_).next();
}

// Stores reach the cache in order: behind the first that has, all others have.
Cycle TimingRun::data_of_all(const WindowAccess& access, Cycle at) const {
  Cycle data = 0;
  for (std::uint64_t i = 1; i <= std::min<std::uint64_t>(stored_, kStores); ++i) {
    const StoreRecord& record = stores_[(stored_ - i) % kStores];
    if (record.commit <= at) break;
    if (overlaps(record, access)) data = std::max(data, record.data);
  }
  return data;
}

bool TimingRun::is_renamed(const Instruction& load, const StoreRecord& from) const {
  const std::uint64_t last = last_stores_[from.instruction];
  if (&stores_[(last - 1) % kStores] != &from) return false;
  if (renames_ == 0) return load.address_registers == from.registers;
  return renames_ == 2 || !(has_index(load.address_registers) || has_index(from.registers));
}

Cycle TimingRun::line_ready(const WindowAccess& access, Cycle at) {
  const std::uint64_t first = access.address / kLine;
  const std::uint64_t last = (access.address + std::max(1u, access.size) - 1) / kLine;
  const Level level = level_of(access.cache);
  const Level prefetched = brought_near(access.cache.prefetched_from);
  Cycle done = at + level_latency_[0];
  if (access.cache.is_transfer) {
    if (!has_sharing_) return done;
    // Whoever has got the line keeps it for as long as it takes to hand it over.
    const Filled& held = filled(first);
    if (held.line == first && at < held.ready + transfer_) return std::max(done, held.ready);
    done = fill_buffers_.take(now_, at, transfer_) + transfer_;
  } else if (level != Level::l1) {
    done = fetch_line(access.cache, level, at);
  } else {
    if (filled(first).line == first) done = std::max(done, filled(first).ready);
    if (filled(last).line == last) done = std::max(done, filled(last).ready);
    if (prefetched == Level::l1) return done;
  }
  if (prefetched > level) done = std::max(done, wait_for_prefetched(access, level, at));
  filled(first) = {first, done};
  filled(last) = {last, done};
  return done;
}

Cycle TimingRun::fetch_line(const Access& access, Level level, Cycle at) {
  const Cycle latency = level_latency_[static_cast<std::size_t>(level)];
  const auto bytes = static_cast<std::uint32_t>(access.lines * kLine);
  at = fill_buffers_.take(now_, at, latency);
  at = pass(level, Level::l1, at, bytes);
  write_back(access, at);
  return at + latency;
}

// A prefetched line has cost no time to wait for, but as much bandwidth as any other. When it was
// asked for is not known: it may pass from the cycle on in which its user is issued. Whoever waits
// for a line that is still under way does so in a buffer: a core can be as many lines ahead as
// there are buffers.
Cycle TimingRun::wait_for_prefetched(const WindowAccess& access, Level level, Cycle at) {
  const auto bytes = static_cast<std::uint32_t>(access.cache.lines * kLine);
  const Cycle hit = level_latency_[static_cast<std::size_t>(level)];
  const Level from = access.cache.prefetched_from;
  const Cycle begun = from == Level::memory ? stream_begun(access, at) : 0;
  const Cycle passed = pass(from, level, std::max(now_, begun), bytes);
  if (level == Level::l1) write_back(access.cache, passed);
  const Cycle there = passed + hit;
  if (there <= at + hit) return there;
  return std::max(there, fill_buffers_.take(now_, at, hit, there) + hit);
}

// A prefetcher goes on in a page that needs a walk when the first line of it was asked for: until
// then nothing of the page is under way.
Cycle TimingRun::stream_begun(const WindowAccess& access, Cycle at) {
  const std::uint64_t page = access.address / kSmallPage;
  // Arrays often lie a power of two apart: the upper bits of the product tell their pages apart.
  Filled& begun = begun_pages_[page * 0x9e3779b97f4a7c15u >> 56];
  if (access.translation.served == Translation::walk)
    begun = {page, fill_buffers_.find(now_, at) + page_start_};
  return begun.line == page ? begun.ready : 0;
}

// What leaves for memory takes as much of its bandwidth as the other direction leaves to it.
void TimingRun::write_back(const Access& access, Cycle at) {
  if (access.written_back == 0 || !is_bandwidth_limited_[3]) return;
  const auto bytes = static_cast<std::uint32_t>(
      std::llround(static_cast<double>(access.written_back * kLine) * core_.write_back_cost.value));
  if (bytes > 0) dram_.take(now_, at, bytes);
}

// Through the links between two levels, from the lower one up.
Cycle TimingRun::pass(Level from, Level to, Cycle at, std::uint32_t bytes) {
  if (from == Level::memory && is_bandwidth_limited_[3]) at = dram_.take(now_, at, bytes);
  if (from >= Level::l3 && to < Level::l3 && is_bandwidth_limited_[2])
    at = l3_.take(now_, at, bytes);
  if (from >= Level::l2 && to < Level::l2 && is_bandwidth_limited_[1])
    at = l2_.take(now_, at, bytes);
  return at;
}

Cycle TimingRun::store(const Instruction& instruction, const WindowAccess& access, Cycle at) {
  at = translate(access, start_access(instruction, access, at));
  if (!access.is_past) return line_ready(access, at);
  return is_bandwidth_limited_[3] ? dram_.take(now_, at, access.size) : at;
}

void TimingRun::keep_store(const Instruction& instruction, const WindowAccess& access, Cycle data,
                           Cycle line) {
  // Stores reach the cache in order after their instruction has left: as many in a cycle as are
  // stored, if they are of one line.
  Cycle commit = std::max({last_leave_, line, last_commit_});
  const std::uint64_t to = access.address / kLine;
  const bool is_other_line = to != committed_line_ && commit_width_ < kEndless;
  if (commit > last_commit_) committed_in_cycle_ = 0;
  if (committed_in_cycle_ >= commit_width_ || (committed_in_cycle_ > 0 && is_other_line)) {
    ++commit;
    committed_in_cycle_ = 0;
  }
  committed_line_ = to;
  ++committed_in_cycle_;
  last_commit_ = commit;
  commits_[stored_ % commits_.size()] = commit;
  const auto number = static_cast<std::uint32_t>(&instruction - window_.instructions.data());
  stores_[stored_ % kStores] = {
      access.address, access.address + access.size, instruction.address_registers, number, data,
      commit};
  last_stores_[number] = stored_ + 1;
  const std::uint64_t first = access.address / kGranule;
  const std::uint64_t last = (access.address + std::max(1u, access.size) - 1) / kGranule;
  for (std::uint64_t i = first; i <= last && i < first + kMostGranules; ++i)
    granules_[i % kGranules] = {i, stored_};
  ++stored_;
}

const TimingRun::StoreRecord* TimingRun::last_store_to(const WindowAccess& access) const {
  const std::uint64_t first = access.address / kGranule;
  const std::uint64_t last = (access.address + std::max(1u, access.size) - 1) / kGranule;
  const StoreRecord* found = nullptr;
  std::uint64_t latest = 0;
  for (std::uint64_t i = first; i <= last && i < first + kMostGranules; ++i) {
    const Granule& granule = granules_[i % kGranules];
    if (granule.number != i || stored_ - granule.store > kStores) continue;
    const StoreRecord& record = stores_[granule.store % kStores];
    if (!overlaps(record, access) || (found != nullptr && granule.store < latest)) continue;
    found = &record;
    latest = granule.store;
  }
  return found;
}

}  // namespace loft::core
