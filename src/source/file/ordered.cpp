#include "source/file/ordered.hpp"

#include <algorithm>
#include <utility>

namespace loft::source {

namespace perf = format::perf;

OrderedRegion::OrderedRegion(const Region& region, const perf::EventTable& events,
                             std::uint64_t first_number)
    : region_(region),
      events_(events),
      walker_(region.bytes, region.order),
      number_(first_number) {}

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
  if (!open_) open_ = Run{record.offset, end, time, number_};
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
    ++number_;
    if (record.type != RecordType::finished_round) continue;
    close_run();
    bound_ = next_bound_;
    next_bound_ = newest_;
    release_behind();
    return;
  }
  close_run();
  at_end_ = true;
}

// What lies before every run has been given out; a visitor that still looks at it reads it again.
void OrderedRegion::release_behind() {
  constexpr std::uint64_t kStep = 16u << 20;
  std::uint64_t behind = walker_.position();
  for (const Run& run : heap_) behind = std::min(behind, run.at);
  if (current_) behind = std::min(behind, current_->at);
  if (behind < released_ + kStep) return;
  region_.release(released_, behind);
  released_ = behind;
}

const OrderedRegion::Run* OrderedRegion::earliest() {
  if (!heap_.empty() && (!current_ || Later{}(*current_, heap_.front()))) {
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    const Run before = std::exchange(current_, heap_.back()).value_or(Run{});
    heap_.pop_back();
    if (before.at < before.end) {
      heap_.push_back(before);
      std::push_heap(heap_.begin(), heap_.end(), Later{});
    }
  }
  return current_ ? &*current_ : nullptr;
}

std::optional<std::uint64_t> OrderedRegion::next_time() {
  const Run* run = earliest();
  while (!at_end_ && (run == nullptr || run->time > bound_)) {
    read_round();
    run = earliest();
  }
  return run != nullptr ? std::optional(run->time) : std::nullopt;
}

void OrderedRegion::next(PlacedRecord& placed) {
  Run& run = *current_;
  perf::RecordWalker reader(region_.bytes, region_.order, run.at);
  reader.next(placed.record);
  placed.time = events_.time_of(placed.record);
  placed.number = run.number++;
  run.at = std::min(run.end, reader.position());
  if (run.at >= run.end) {
    current_.reset();
    return;
  }
  RawRecord following;
  reader.next(following);
  run.time = place_in_time(following, run.time);
}

OrderedRecords::OrderedRecords(const Recording& recording) {
  for (std::size_t i = 0; i < recording.regions().size(); ++i)
    regions_.emplace_back(recording.regions()[i], recording.events(), recording.first_numbers()[i]);
}

bool OrderedRecords::next(PlacedRecord& placed) {
  OrderedRegion* earliest = nullptr;
  std::uint64_t earliest_time = 0;
  for (auto& candidate : regions_) {
    const auto time = candidate.next_time();
    if (!time || (earliest != nullptr && *time >= earliest_time)) continue;
    earliest = &candidate;
    earliest_time = *time;
  }
  if (earliest != nullptr) earliest->next(placed);
  return earliest != nullptr;
}

void Recording::in_order(const Visitor& visit) const {
  OrderedRecords records(*this);
  PlacedRecord placed;
  while (records.next(placed) && visit(placed)) {
  }
}

void Recording::in_file_order(const Visitor& visit) const {
  PlacedRecord placed;
  for (const Region& region : regions_) {
    perf::RecordWalker walker(region.bytes, region.order);
    while (walker.next(placed.record)) {
      placed.time = events_.time_of(placed.record);
      if (!visit(placed)) return;
      ++placed.number;
    }
  }
}

}  // namespace loft::source
