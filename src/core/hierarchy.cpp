#include "core/hierarchy.hpp"

#include <algorithm>
#include <bit>

namespace loft::core {
namespace {

constexpr std::size_t kRecent = 1024;
constexpr CacheCounts kNoCounts;

void deepen(Access& all, const Access& one) {
  const auto lines = static_cast<std::uint8_t>(std::min(255, all.lines + one.lines));
  const auto written =
      static_cast<std::uint8_t>(std::min(255, all.written_back + one.written_back));
  const bool is_transfer = all.is_transfer || one.is_transfer;
  const Level nearest = std::max(all.nearest, one.nearest);
  const Level farthest = std::max(all.farthest, one.farthest);
  if (one.level > all.level || (one.level == all.level && one.prefetched_from > Level::l1))
    all = one;
  all.lines = lines;
  all.written_back = written;
  all.is_transfer = is_transfer;
  all.nearest = nearest;
  all.farthest = farthest;
}

std::unique_ptr<Cache> make_if_any(const CacheGeometry& geometry) {
  return geometry.exists() ? std::make_unique<Cache>(geometry) : nullptr;
}

}  // namespace

Result<void> check(const HierarchyGeometry& geometry) {
  LOFT_CHECK(check(geometry.l1i, "L1I"));
  LOFT_CHECK(check(geometry.l1d, "L1D"));
  if (geometry.l2.exists()) LOFT_CHECK(check(geometry.l2, "L2"));
  if (geometry.l3.exists()) LOFT_CHECK(check(geometry.l3, "L3"));
  const auto refuse = [](const char* why, const char* hint) {
    return failure(ErrorKind::invalid_input, "model the caches", why, hint);
  };
  for (const CacheGeometry* cache : {&geometry.l1i, &geometry.l2, &geometry.l3})
    if (cache->exists() && cache->line != geometry.l1d.line)
      return refuse("levels with different line sizes", "give all levels one line size");
  if (geometry.l2_inclusion == Inclusion::exclusive)
    return refuse("an exclusive L2", "L2 may be inclusive or noninclusive");
  if (geometry.l3_inclusion == Inclusion::exclusive && geometry.l3.exists() &&
      !geometry.l2.exists())
    return refuse("an exclusive L3 without an L2", "give an L2 whose victims it holds");
  if (geometry.prefetch.stream_lines > PrefetchGeometry::kMostLines ||
      geometry.prefetch.stride_steps > PrefetchGeometry::kMostLines)
    return refuse("a prefetcher that runs too far ahead", "at most 32 lines");
  return {};
}

Hierarchy::Core::Core(const HierarchyGeometry& geometry, std::uint32_t thread)
    : number(thread),
      l1i(geometry.l1i),
      l1d(geometry.l1d),
      l2(make_if_any(geometry.l2)),
      prefetchers(geometry.prefetch, geometry.l1d.line),
      recent(kRecent) {}

Hierarchy::Hierarchy(const HierarchyGeometry& geometry)
    : geometry_(geometry),
      line_shift_(std::countr_zero(geometry.l1d.line)),
      l3_(make_if_any(geometry.l3)),
      coherence_(geometry.l1d.line) {
  add_cores(0);
}

void Hierarchy::add_cores(std::uint32_t thread) {
  // As long as there is one thread, nobody keeps track of who holds what.
  if (cores_.size() == 1) {
    const auto hold = [this](std::uint64_t line, bool is_dirty) {
      coherence_.access(0, line << line_shift_, 1, is_dirty);
    };
    cores_[0]->l1i.for_each(hold);
    cores_[0]->l1d.for_each(hold);
    if (cores_[0]->l2) cores_[0]->l2->for_each(hold);
  }
  while (cores_.size() <= thread) {
    cores_.push_back(std::make_unique<Core>(geometry_, static_cast<std::uint32_t>(cores_.size())));
    if (was_warmed_up_) start_warm_up(*cores_.back(), Cache::Keep::nothing);
  }
}

Access Hierarchy::data_lines(Core& core, std::uint64_t address, std::uint64_t size,
                             std::uint64_t ip, bool is_store) {
  const std::uint64_t end = address + std::max<std::uint64_t>(size, 1);
  const std::uint64_t last = (end - 1) >> line_shift_;
  Access all{.lines = 0};
  for (std::uint64_t line = address >> line_shift_;; ++line) {
    const std::uint64_t from = std::max(address, line << line_shift_);
    const auto bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(end - from, geometry_.l1d.line));
    deepen(all, data_line(core, line, ip, is_store, from, bytes));
    if (line == last) return all;
  }
}

Access Hierarchy::data_line(Core& core, std::uint64_t line, std::uint64_t ip, bool is_store,
                            std::uint64_t address, std::uint32_t size) {
  ++core.data_accesses;
  Access access;
  const bool is_alone = cores_.size() == 1;
  const Lookup found = core.l1d.look_up(line, is_store);
  if (found.is_hit) {
    access.farthest = found.is_known ? Level::l1 : Level::memory;
    use_prefetched(core, access, found, line);
    if (!is_alone && (found.is_shared || (is_store && !found.was_dirty)))
      share(core, address, size, is_store, ip, access);
    if (!found.is_known) note_reach(core.data_reach, access);
    if (found.prefetched_from != Level::l1) run_prefetchers(core, line, ip);
    return access;
  }
  Sharing sharing;
  if (!is_alone) sharing = share(core, address, size, is_store, ip, access);
  Request request{.line = line, .is_transfer = sharing.is_transfer};
  from_l2(core, request, access);
  access.nearest = found.is_known ? access.nearest : Level::l1;
  fill_l1(core, core.l1d, line,
          {.is_dirty = is_store || request.is_dirty, .is_shared = sharing.is_shared}, access);
  note_reach(core.data_reach, access);
  run_prefetchers(core, line, ip);
  return access;
}

Access Hierarchy::fetch(std::uint32_t thread, std::uint64_t address, std::uint64_t size) {
  Core& core = core_of(thread);
  const std::uint64_t last = (address + std::max<std::uint64_t>(size, 1) - 1) >> line_shift_;
  Access all{.lines = 0};
  for (std::uint64_t line = address >> line_shift_;; ++line) {
    Access access;
    if (!core.l1i.touch_recent(line, false)) {
      const Lookup found = core.l1i.look_up(line, false);
      if (found.is_hit) {
        access.farthest = found.is_known ? Level::l1 : Level::memory;
      } else {
        if (cores_.size() > 1)
          share(core, line << line_shift_, 1, false, line << line_shift_, access);
        Request request{.line = line};
        const std::uint64_t l2_before = l2(thread).misses;
        const std::uint64_t l3_before = l3().misses;
        from_l2(core, request, access);
        core.code_misses.l2 += l2(thread).misses - l2_before;
        core.code_misses.l3 += l3().misses - l3_before;
        if (!found.is_known) access.nearest = Level::l1;
        fill_l1(core, core.l1i, line, {}, access);
      }
      if (!found.is_hit || !found.is_known) note_reach(core.code_reach, access);
    }
    deepen(all, access);
    if (line == last) return all;
  }
}

Access Hierarchy::walk(std::uint32_t thread, std::uint64_t address) {
  Access access;
  Request request{.line = address >> line_shift_};
  from_l2(core_of(thread), request, access);
  return access;
}

Access Hierarchy::store_past(std::uint32_t thread, std::uint64_t address, std::uint64_t size) {
  core_of(thread);
  const std::uint64_t last = (address + std::max<std::uint64_t>(size, 1) - 1) >> line_shift_;
  Access all{.level = Level::memory, .nearest = Level::memory, .farthest = Level::memory};
  std::uint64_t lines = 0;
  for (std::uint64_t line = address >> line_shift_;; ++line) {
    ++lines;
    for (const auto& other : cores_) {
      other->l1d.invalidate(line);
      if (other->l2) other->l2->invalidate(line);
      if (cores_.size() > 1) coherence_.left(other->number, line << line_shift_);
    }
    if (l3_) l3_->invalidate(line);
    if (line == last) break;
  }
  traffic_.to_memory += size;
  all.lines = static_cast<std::uint8_t>(std::min<std::uint64_t>(255, lines));
  return all;
}

void Hierarchy::prefetch(std::uint32_t thread, std::uint64_t address) {
  bring(core_of(thread), address >> line_shift_, Level::l1);
}

void Hierarchy::start_warm_up(Core& core, Cache::Keep keep) {
  core.l1i.start_warm_up(keep);
  core.l1d.start_warm_up(keep);
  if (core.l2) core.l2->start_warm_up(keep);
}

void Hierarchy::start_warm_up(Cache::Keep keep) {
  was_warmed_up_ = true;
  for (const auto& core : cores_) start_warm_up(*core, keep);
  if (l3_) l3_->start_warm_up(keep);
  if (keep == Cache::Keep::nothing) coherence_ = Coherence(geometry_.l1d.line);
}

void Hierarchy::reset_counts() {
  for (const auto& core : cores_) {
    core->l1i.reset_counts();
    core->l1d.reset_counts();
    if (core->l2) core->l2->reset_counts();
    core->code_misses = {};
    core->data_reach = core->code_reach = {};
  }
  if (l3_) l3_->reset_counts();
  traffic_ = {};
  moved_ = {};
  prefetches_ = {};
}

const CacheCounts& Hierarchy::l1i(std::uint32_t thread) const {
  return cores_.at(thread)->l1i.counts();
}

const CacheCounts& Hierarchy::l1d(std::uint32_t thread) const {
  return cores_.at(thread)->l1d.counts();
}

const CacheCounts& Hierarchy::l2(std::uint32_t thread) const {
  const auto& l2 = cores_.at(thread)->l2;
  return l2 ? l2->counts() : kNoCounts;
}

const CacheCounts& Hierarchy::l3() const { return l3_ ? l3_->counts() : kNoCounts; }

const CodeMisses& Hierarchy::code_misses(std::uint32_t thread) const {
  return cores_.at(thread)->code_misses;
}

const Reach& Hierarchy::data_reach(std::uint32_t thread) const {
  return cores_.at(thread)->data_reach;
}

const Reach& Hierarchy::code_reach(std::uint32_t thread) const {
  return cores_.at(thread)->code_reach;
}

std::string_view to_string(Inclusion inclusion) {
  constexpr std::string_view kNames[] = {"inclusive", "exclusive", "noninclusive"};
  return kNames[static_cast<std::size_t>(inclusion)];
}

}  // namespace loft::core
