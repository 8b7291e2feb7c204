// How a line moves between the levels: up on a miss, down as a victim, between threads.
#include <algorithm>

#include "core/hierarchy.hpp"

namespace loft::core {

namespace {

void add_beyond(Reach& reach, const Access& access, Level level) {
  Reach::Bounds& beyond = reach.beyond[static_cast<std::size_t>(level)];
  beyond.surely += access.nearest > level;
  beyond.perhaps += access.farthest > level;
}

void add_served(Reach& reach, const Access& access, Level level) {
  Reach::Bounds& served = reach.served[static_cast<std::size_t>(level)];
  served.surely += access.nearest == level && access.farthest == level;
  served.perhaps += access.nearest <= level && access.farthest >= level;
}

}  // namespace

void Hierarchy::note_reach(Reach& reach, const Access& access) {
  for (const Level level : {Level::l1, Level::l2, Level::l3}) {
    add_beyond(reach, access, level);
    add_beyond(moved_, access, level);
  }
  add_served(reach, access, Level::l2);
  if (access.is_transfer)
    ++reach.transferred;
  else
    add_served(reach, access, Level::l3);
}

void Hierarchy::use_prefetched(Core& core, Access& access, const Lookup& found,
                               std::uint64_t line) {
  access.prefetched_from = found.prefetched_from;
  if (found.prefetched_from == Level::l1) return;
  ++prefetches_.useful;
  const Core::Recent& recent = core.recent[line % core.recent.size()];
  access.is_late =
      recent.line == line && core.data_accesses - recent.when <= geometry_.late_accesses;
  prefetches_.late += access.is_late;
}

void Hierarchy::from_l2(Core& core, Request& request, Access& access) {
  traffic_.l2_to_l1 += geometry_.l1d.line;
  if (!core.l2) return from_l3(core, request, access);
  const Lookup found = request.is_demand ? core.l2->look_up(request.line, false)
                                         : core.l2->look_up_uncounted(request.line);
  if (found.is_hit) {
    access.level = access.nearest = Level::l2;
    access.farthest = found.is_known ? Level::l2 : Level::memory;
    if (request.is_demand) use_prefetched(core, access, found, request.line);
    access.prefetched_from = found.prefetched_from;
    return;
  }
  from_l3(core, request, access);
  if (!found.is_known) access.nearest = Level::l2;
  fill_l2(core, request.line, {.is_dirty = request.is_dirty}, access);
  request.is_dirty = false;  // L2 keeps the modified state
}

void Hierarchy::from_l3(Core&, Request& request, Access& access) {
  traffic_.l3_to_l2 += geometry_.l1d.line;
  if (request.is_transfer) {  // straight from the other core
    access.level = access.nearest = access.farthest = Level::l3;
    return;
  }
  if (!l3_) return from_memory(request, access, true);
  const Lookup found =
      request.is_demand ? l3_->look_up(request.line, false) : l3_->look_up_uncounted(request.line);
  if (!found.is_hit) {
    from_memory(request, access, found.is_known);
    if (!found.is_known) access.nearest = Level::l3;
    if (geometry_.l3_inclusion != Inclusion::exclusive) put_into_l3(request.line, false, access);
    return;
  }
  access.level = access.nearest = Level::l3;
  access.farthest = found.is_known ? Level::l3 : Level::memory;
  if (geometry_.l3_inclusion == Inclusion::exclusive)
    request.is_dirty = l3_->invalidate(request.line).is_dirty;
}

void Hierarchy::from_memory(Request&, Access& access, bool is_known) {
  traffic_.from_memory += geometry_.l1d.line;
  if (!is_known) traffic_.unknown_from_memory += geometry_.l1d.line;
  access.level = access.nearest = access.farthest = Level::memory;
}

void Hierarchy::fill_l1(Core& core, Cache& l1, std::uint64_t line, LineState state,
                        Access& access) {
  const Evicted victim = l1.fill(line, state);
  if (victim.is_valid) leave_l1(core, victim, access);
}

void Hierarchy::leave_l1(Core& core, const Evicted& victim, Access& access) {
  prefetches_.unused += victim.was_prefetched;
  if (victim.is_dirty) {
    traffic_.l1_to_l2 += geometry_.l1d.line;
    if (!core.l2) {
      traffic_.l2_to_l3 += geometry_.l1d.line;
      put_into_l3(victim.line, true, access);
    } else if (!core.l2->mark_dirty(victim.line)) {
      fill_l2(core, victim.line, {.is_dirty = true}, access);
    }
  }
  forget_holder(core, victim.line);
}

void Hierarchy::fill_l2(Core& core, std::uint64_t line, LineState state, Access& access) {
  const Evicted victim = core.l2->fill(line, state);
  if (victim.is_valid) leave_l2(core, victim, access);
}

void Hierarchy::leave_l2(Core& core, Evicted victim, Access& access) {
  prefetches_.unused += victim.was_prefetched;
  if (geometry_.l2_inclusion == Inclusion::inclusive) {
    core.l1i.invalidate(victim.line);
    const Evicted above = core.l1d.invalidate(victim.line);
    if (above.is_dirty) traffic_.l1_to_l2 += geometry_.l1d.line;
    victim.is_dirty |= above.is_dirty;
  }
  if (victim.is_dirty || geometry_.l3_inclusion == Inclusion::exclusive) {
    if (l3_ || victim.is_dirty) traffic_.l2_to_l3 += geometry_.l1d.line;
    put_into_l3(victim.line, victim.is_dirty, access);
  }
  forget_holder(core, victim.line);
}

// Adds a line to L3, or its modified state where L3 has the line already.
void Hierarchy::put_into_l3(std::uint64_t line, bool is_dirty, Access& access) {
  if (!l3_) {
    if (is_dirty) write_to_memory(access);
    return;
  }
  if (is_dirty ? l3_->mark_dirty(line) : l3_->contains(line)) return;
  Evicted victim = l3_->fill(line, {.is_dirty = is_dirty});
  if (!victim.is_valid) return;
  if (geometry_.l3_inclusion == Inclusion::inclusive) {
    for (const auto& core : cores_) {
      core->l1i.invalidate(victim.line);
      victim.is_dirty |= core->l1d.invalidate(victim.line).is_dirty;
      if (core->l2) victim.is_dirty |= core->l2->invalidate(victim.line).is_dirty;
      forget_holder(*core, victim.line);
    }
  }
  if (victim.is_dirty) write_to_memory(access);
}

void Hierarchy::write_to_memory(Access& access) {
  traffic_.to_memory += geometry_.l1d.line;
  if (access.written_back < 255) ++access.written_back;
}

void Hierarchy::run_prefetchers(Core& core, std::uint64_t line, std::uint64_t ip) {
  if (!core.prefetchers.any()) return;
  for (const Prefetch& next : core.prefetchers.train(line, ip))
    if (bring(core, next.line, next.into()))
      ++prefetches_.issued[static_cast<std::size_t>(next.kind)];
}

// Brings a line closer before it is asked for; false where it is close already.
bool Hierarchy::bring(Core& core, std::uint64_t line, Level into) {
  if (!core.l2) into = Level::l1;
  if (core.l1d.contains(line)) return false;
  if (into == Level::l2 && core.l2->contains(line)) return false;
  const bool is_surely_far = into == Level::l1 || core.l2->knows(line);
  if (cores_.size() > 1) {
    // The owner keeps what it works on: a prefetch does not take a line away from another thread.
    if (coherence_.is_held_by_others(core.number, line << line_shift_)) return false;
    coherence_.access(core.number, line << line_shift_, 1, false);
  }
  Request request{.line = line, .is_demand = false};
  Access access;
  if (into == Level::l1) {
    from_l2(core, request, access);
    const Level origin = std::max(access.level, access.prefetched_from);
    fill_l1(core, core.l1d, line, {.is_dirty = request.is_dirty, .prefetched_from = origin},
            access);
    add_beyond(moved_, access, Level::l1);
  } else {
    from_l3(core, request, access);
    if (!is_surely_far) access.nearest = Level::l2;
    fill_l2(core, line, {.is_dirty = request.is_dirty, .prefetched_from = access.level}, access);
  }
  add_beyond(moved_, access, Level::l2);
  add_beyond(moved_, access, Level::l3);
  core.recent[line % core.recent.size()] = {line, core.data_accesses};
  return true;
}

Sharing Hierarchy::share(Core& core, std::uint64_t address, std::uint32_t size, bool is_store,
                         std::uint64_t ip, Access& access) {
  const Sharing sharing = coherence_.access(core.number, address, size, is_store, ip);
  const std::uint64_t line = address >> line_shift_;
  access.is_transfer = sharing.is_transfer;
  if (sharing.is_shared) core.l1d.mark_shared(line);
  for (const auto& other : cores_) {
    const std::uint64_t bit = std::uint64_t{1} << (other->number % Coherence::kMaxThreads);
    if (other->number == core.number) continue;
    if ((sharing.invalidate & bit) != 0) {
      other->l1i.invalidate(line);
      other->l1d.invalidate(line);
      if (other->l2) other->l2->invalidate(line);
    } else if ((sharing.make_clean & bit) != 0) {
      other->l1d.mark_clean(line);
      other->l1d.mark_shared(line);
      if (other->l2) other->l2->mark_clean(line);
      traffic_.l2_to_l3 += geometry_.l1d.line;
      put_into_l3(line, true, access);
    }
  }
  return sharing;
}

void Hierarchy::forget_holder(Core& core, std::uint64_t line) {
  if (cores_.size() == 1) return;
  if (core.l1d.contains(line) || core.l1i.contains(line)) return;
  if (core.l2 && core.l2->contains(line)) return;
  coherence_.left(core.number, line << line_shift_);
}

}  // namespace loft::core
