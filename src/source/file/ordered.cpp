#include "source/file/ordered.hpp"

#include <algorithm>

namespace loft::source {

namespace perf = format::perf;

OrderedRegion::OrderedRegion(const Region& region, const perf::EventTable& events)
    : region_(region), events_(events), walker_(region.bytes, region.order) {}

// Records without a time stay behind the one before them.
std::uint64_t OrderedRegion::place_in_time(const RawRecord& record, std::uint64_t before) const {
  return events_.time_of(record).value_or(before);
}

void OrderedRegion::close_run() {
  if (!open_) return;
  heap_.push_back(*open_);
  std::push_heap(heap_.begin(), heap_.end(), Later{});
  open_.reset();
}

void OrderedRegion::add_to_run(const RawRecord& record, std::uint64_t end) {
  const std::uint64_t time = place_in_time(record, open_ ? open_time_ : bound_);
  if (open_ && (time < open_time_ || record.offset != open_->end)) close_run();
  if (!open_) open_ = Run{record.offset, end, time};
  open_->end = end;
  open_time_ = time;
  newest_ = std::max(newest_, time);
}

void OrderedRegion::read_round() {
  RawRecord record;
  while (walker_.next(record)) {
    const auto size = perf::kRecordHeader + record.body.size();
    const auto payload = record.payload.empty() ? 0 : walker_.position() - record.offset - size;
    add_to_run(record, record.offset + size + payload);
    if (record.type != RecordType::finished_round) continue;
    close_run();
    bound_ = next_bound_;
    next_bound_ = newest_;
    return;
  }
  close_run();
  at_end_ = true;
}

std::optional<std::uint64_t> OrderedRegion::next_time() {
  while (!at_end_ && (heap_.empty() || heap_.front().time > bound_)) read_round();
  if (heap_.empty()) return std::nullopt;
  return heap_.front().time;
}

void OrderedRegion::next(RawRecord& record, std::optional<std::uint64_t>& time) {
  std::pop_heap(heap_.begin(), heap_.end(), Later{});
  Run run = heap_.back();
  heap_.pop_back();
  perf::RecordWalker reader(region_.bytes, region_.order, run.at);
  reader.next(record);
  time = events_.time_of(record);
  run.at = std::min(run.end, reader.position());
  if (run.at >= run.end) return;
  RawRecord following;
  perf::RecordWalker(region_.bytes, region_.order, run.at).next(following);
  run.time = place_in_time(following, run.time);
  heap_.push_back(run);
  std::push_heap(heap_.begin(), heap_.end(), Later{});
}

void Recording::in_order(const Visitor& visit) const {
  std::vector<OrderedRegion> ordered;
  ordered.reserve(regions_.size());
  for (const Region& region : regions_) ordered.emplace_back(region, events_);
  RawRecord record;
  std::optional<std::uint64_t> time;
  for (;;) {
    OrderedRegion* earliest = nullptr;
    std::uint64_t earliest_time = 0;
    for (auto& candidate : ordered) {
      const auto next = candidate.next_time();
      if (!next || (earliest != nullptr && *next >= earliest_time)) continue;
      earliest = &candidate;
      earliest_time = *next;
    }
    if (earliest == nullptr) return;
    earliest->next(record, time);
    if (!visit(record, time)) return;
  }
}

void Recording::in_file_order(const Visitor& visit) const {
  for (const Region& region : regions_) {
    perf::RecordWalker walker(region.bytes, region.order);
    RawRecord record;
    while (walker.next(record))
      if (!visit(record, events_.time_of(record))) return;
  }
}

}  // namespace loft::source
