#include "core/coherence.hpp"

#include <algorithm>

namespace loft::core {
namespace {

std::uint64_t bit(std::uint32_t thread) { return std::uint64_t{1} << thread; }

}  // namespace

Coherence::Coherence(std::uint32_t line_bytes) : line_bytes_(line_bytes) {}

// One bit per byte of a line of 64, per more bytes of longer lines.
std::uint64_t Coherence::bytes_of(std::uint64_t address, std::uint32_t size) const {
  const std::uint32_t grain = std::max<std::uint32_t>(1, line_bytes_ / 64);
  const std::uint64_t first = address % line_bytes_ / grain;
  const std::uint64_t end =
      std::min<std::uint64_t>(address % line_bytes_ + std::max(1u, size), line_bytes_);
  const std::uint64_t last = (end - 1) / grain;
  return (~std::uint64_t{0} >> (63 - (last - first))) << first;
}

Sharing Coherence::access(std::uint32_t thread, std::uint64_t address, std::uint32_t size,
                          bool is_store, std::uint64_t ip) {
  thread %= kMaxThreads;
  const std::uint64_t line = address / line_bytes_;
  Holding& holding = held_[line];
  const std::uint64_t others = holding.holders & ~bit(thread);
  Sharing sharing;
  if (holding.modified_by != kNobody && holding.modified_by != thread) {
    sharing.is_transfer = true;
    sharing.from = holding.modified_by;
  }
  if (is_store) {
    sharing.is_invalidation = others != 0;
    sharing.invalidate = others;
    holding = {bit(thread), thread};
  } else {
    if (sharing.is_transfer) {
      sharing.make_clean = bit(holding.modified_by);
      holding.modified_by = kNobody;
    }
    holding.holders |= bit(thread);
  }
  counts_.transfers += sharing.is_transfer;
  counts_.invalidations += sharing.is_invalidation;

  const bool is_passed = sharing.is_transfer || sharing.is_invalidation;
  const bool is_first = is_passed && !shared_.contains(line);
  if (History* history = history_of(line, is_passed)) {
    sharing.is_shared = true;
    const std::uint64_t bytes = bytes_of(address, size);
    note(*history, thread, bytes, is_store, sharing, is_first);
    if (ip == 0) return sharing;  // a prefetcher
    LineUser& user = user_of(*history, thread, ip);
    ++(is_store ? user.stores : user.loads);
    user.transfers += sharing.is_transfer;
    user.bytes |= bytes;
  }
  return sharing;
}

Coherence::History* Coherence::history_of(std::uint64_t line, bool may_begin) {
  if (const auto found = shared_.find(line); found != shared_.end()) return &found->second;
  if (!may_begin || shared_.size() >= kMaxShared) return nullptr;
  History& history = shared_[line];
  history.line.address = line * line_bytes_;
  return &history;
}

LineUser& Coherence::user_of(History& history, std::uint32_t thread, std::uint64_t ip) {
  std::vector<LineUser>& users = history.line.users;
  const auto is_it = [&](const LineUser& user) { return user.ip == ip && user.thread == thread; };
  if (const auto found = std::ranges::find_if(users, is_it); found != users.end()) return *found;
  if (users.size() + 1 < kMaxUsers || ip == 0) {
    users.push_back({.ip = ip, .thread = thread});
    return users.back();
  }
  return user_of(history, thread, 0);
}

void Coherence::classify(History& history, Copy& copy, bool is_true) {
  copy.is_open = false;
  ++(is_true ? history.line.true_transfers : history.line.false_transfers);
  ++(is_true ? counts_.true_transfers : counts_.false_transfers);
  if (is_true) copy.foreign = 0;
}

void Coherence::note(History& history, std::uint32_t thread, std::uint64_t bytes, bool is_store,
                     const Sharing& sharing, bool is_first) {
  history.line.transfers += sharing.is_transfer;
  history.line.invalidations += sharing.is_invalidation;
  (is_store ? history.line.writers : history.line.readers) |= bit(thread);
  if (sharing.is_transfer) history.line.writers |= bit(sharing.from);

  // What was written before a thread's first look at the line is new to it.
  Copy& copy = history.copies.try_emplace(thread, Copy{.foreign = history.written}).first->second;
  if (sharing.is_transfer && !is_first) {
    copy.touched = 0;
    copy.is_open = true;
  }
  copy.touched |= bytes;
  if (copy.is_open && (copy.touched & copy.foreign) != 0) classify(history, copy, true);
  // An entry for the one that had it, so that this thread's writes are foreign to it.
  if (sharing.is_transfer) history.copies[sharing.from];
  if (!is_store) return;
  history.written |= bytes;
  for (auto& [other, theirs] : history.copies) {
    if (other == thread) continue;
    theirs.foreign |= bytes;
    if (theirs.is_open && (sharing.invalidate & bit(other)) != 0) classify(history, theirs, false);
  }
}

void Coherence::left(std::uint32_t thread, std::uint64_t address) {
  thread %= kMaxThreads;
  const auto found = held_.find(address / line_bytes_);
  if (found == held_.end()) return;
  Holding& holding = found->second;
  holding.holders &= ~bit(thread);
  if (holding.modified_by == thread) holding.modified_by = kNobody;
  if (holding.holders == 0) held_.erase(found);
}

bool Coherence::is_held_by_others(std::uint32_t thread, std::uint64_t address) const {
  const auto found = held_.find(address / line_bytes_);
  return found != held_.end() && (found->second.holders & ~bit(thread % kMaxThreads)) != 0;
}

SharingCounts Coherence::counts() const {
  SharingCounts counts = counts_;
  for (const auto& [line, history] : shared_)
    for (const auto& [thread, copy] : history.copies) counts.false_transfers += copy.is_open;
  return counts;
}

std::vector<SharedLine> Coherence::lines() const {
  std::vector<SharedLine> lines;
  for (const auto& [number, history] : shared_) {
    lines.push_back(history.line);
    for (const auto& [thread, copy] : history.copies) lines.back().false_transfers += copy.is_open;
  }
  std::sort(lines.begin(), lines.end(), [](const SharedLine& a, const SharedLine& b) {
    return a.transfers != b.transfers ? a.transfers > b.transfers : a.address < b.address;
  });
  return lines;
}

}  // namespace loft::core
