// Samples, decoded chunk by chunk by as many threads as there are: nothing here needs their order,
// but for groups of which only the leader takes samples.
#include <array>
#include <atomic>

#include "base/workers.hpp"
#include "source/file/deferred_chains.hpp"
#include "source/file/group_table.hpp"
#include "source/file/recording.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

constexpr std::size_t kBatch = 64;  // samples that a sink can look ahead
constexpr std::size_t kAhead = 1024;

void fill(const perf::BriefSample& brief, std::uint32_t event, const RawRecord& record,
          sample::Sample& out) {
  out.ip = brief.ip;
  out.time = brief.time;
  out.period = brief.period;
  out.event = event;
  out.pid = brief.pid;
  out.tid = brief.tid;
  out.cpu = brief.cpu;
  out.mode = record.mode();
  out.place = record.offset;
  out.call_chain = brief.call_chain;
}

}  // namespace

bool Recording::reads_groups() const {
  for (std::uint32_t event = 0; event < events_.size(); ++event)
    if (GroupTable::is_about(events_.layout(event))) return true;
  return false;
}

// Chains that came later are looked for in the chunks on both sides as well.
std::optional<DeferredChains> Recording::deferred_around(std::size_t index) const {
  constexpr const char* kName = "CALLCHAIN_DEFERRED";
  if (!summary_.records.contains(kName)) return std::nullopt;
  const auto is_near = [&](std::size_t i) {
    return i < chunks_.size() && chunks_[i].region == chunks_[index].region;
  };
  const std::size_t first = is_near(index - 1) ? index - 1 : index;  // -1 is no index either
  const std::size_t last = is_near(index + 1) ? index + 1 : index;
  return std::optional<DeferredChains>(std::in_place, regions_[chunks_[index].region],
                                       chunks_[first].start, chunks_[last].end);
}

void Recording::decode_chunk(std::size_t index, sample::SampleSink& sink, GroupTable& groups,
                             std::uint64_t& unreadable) const {
  const Chunk& chunk = chunks_[index];
  const Region& region = regions_[chunk.region];
  const auto deferred = deferred_around(index);
  std::array<std::vector<std::uint64_t>, kBatch> stitched;
  perf::RecordWalker walker(region.bytes, region.order, chunk.start);
  RawRecord record;
  std::array<sample::Sample, kBatch> batch;
  std::size_t waiting = 0;
  perf::EventTable::Memo memo;
  while (walker.position() < chunk.end && walker.next(record)) {
    // The processor's own looking ahead ends with each page.
    __builtin_prefetch(record.body.data() + kAhead);
    if (record.type != RecordType::sample) continue;
    const auto event = events_.event_of_sample(record, memo);
    if (!event) {
      ++unreadable;
      continue;
    }
    const perf::SampleLayout& layout = events_.layout(*event);
    perf::BriefSample brief;
    if (!perf::read_brief(record, layout, brief)) {
      ++unreadable;
      continue;
    }
    if (deferred) brief.call_chain = deferred->stitched(brief.call_chain, stitched[waiting]);
    fill(brief, *event, record, batch[waiting]);
    const bool is_group = GroupTable::is_about(layout);
    if (!layout.has(perf::kStackUser) && !is_group) {
      if (++waiting < kBatch) continue;
      sink.add_all(batch);
      waiting = 0;
      continue;
    }
    sample::Sample sample = batch[waiting];  // what it points to does not last as long as a batch
    const auto whole = perf::read_sample(record, layout);
    if (!whole) {
      ++unreadable;
      continue;
    }
    if (layout.has(perf::kStackUser)) {
      sample.user_registers = &whole->user_registers;
      sample.user_stack = whole->user_stack;
    }
    if (!is_group) {
      sink.add(sample);
      continue;
    }
    groups.take(*whole, layout.attr().inherit, [&](std::uint32_t member, std::uint64_t period) {
      sample.event = member;
      sample.period = period;
      sink.add(sample);
    });
  }
  sink.add_all(std::span(batch).first(waiting));
}

void Recording::for_each_sample(unsigned workers,
                                const std::function<sample::SampleSink*(unsigned)>& sink_of,
                                Progress* progress) const {
  std::atomic<std::size_t> next{0};
  if (reads_groups()) workers = 1;  // each sample counts from the one before
  const auto work = [&](unsigned number) {
    sample::SampleSink& sink = *sink_of(number);
    GroupTable groups(events_);
    std::uint64_t unreadable = 0;
    for (std::size_t i = next++; i < chunks_.size(); i = next++) {
      decode_chunk(i, sink, groups, unreadable);
      regions_[chunks_[i].region].release(chunks_[i].start, chunks_[i].end + Region::kAround);
      if (progress != nullptr) progress->done += chunks_[i].end - chunks_[i].start;
    }
    sink.finish(unreadable);
  };
  if (progress != nullptr) {
    progress->done = 0;
    for (const auto& chunk : chunks_) progress->total += chunk.end - chunk.start;
  }
  run_workers(workers, work);
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> Recording::time_range() const {
  std::optional<std::pair<std::uint64_t, std::uint64_t>> range = metadata().sample_time;
  if (range && range->first < range->second) return range;
  range.reset();
  in_file_order([&](const PlacedRecord& placed) {
    if (placed.record.type != RecordType::sample || !placed.time) return true;
    if (!range) range.emplace(*placed.time, *placed.time);
    range->first = std::min(range->first, *placed.time);
    range->second = std::max(range->second, *placed.time);
    return true;
  });
  return range;
}

}  // namespace loft::source
