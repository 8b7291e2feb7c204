#include "source/file/record_filter.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

bool lets(const std::set<std::uint32_t>& wanted, std::optional<std::uint32_t> value) {
  return wanted.empty() || (value && wanted.contains(*value));
}

}  // namespace

RecordFilter::RecordFilter(const Recording& recording, sample::Locations& locations,
                           const sample::ProfileFilter& filter)
    : recording_(recording),
      locations_(locations),
      resolver_(locations, recording.history()),
      filter_(filter),
      lets_all_(filter.lets_all()),
      comm_passes_(filter.passing_comms(recording.history())),
      binary_passes_(filter.passing_binaries(recording.history())) {}

bool RecordFilter::passes_thread(const perf_data::RecordId& who) {
  if (!lets(filter_.pids, who.pid) || !lets(filter_.tids, who.tid) || !lets(filter_.cpus, who.cpu))
    return false;
  if (comm_passes_.empty()) return true;
  return who.tid &&
         comm_passes_[recording_.history().comm_at(*who.tid, who.time.value_or(~std::uint64_t{0}))];
}

bool RecordFilter::passes_code(const RawRecord& record, std::uint32_t event) {
  perf::BriefSample sample;
  if (record.type != RecordType::sample ||
      !perf::read_brief(record, recording_.events().layout(event), sample))
    return false;
  const auto& history = recording_.history();
  const bool in_kernel = record.mode() == perf_data::CpuMode::kernel;
  const auto location = in_kernel
                            ? resolver_.kernel(history.kernel_space_at(sample.time), sample.ip)
                            : resolver_.user(history.space_at(sample.pid, sample.time), sample.ip);
  const sample::Function& function = locations_.function_of(location);
  if (!filter_.passes_symbol(function.name)) return false;
  if (filter_.binaries.empty()) return true;
  const auto binary = function.binary;
  return binary != sample::Function::kNoBinary && binary_passes_[binary];
}

bool RecordFilter::passes(const PlacedRecord& placed) {
  if (lets_all_) return true;
  const bool asks_time = filter_.from != 0 || filter_.until != ~std::uint64_t{0};
  if (asks_time && (!placed.time || *placed.time < filter_.from || *placed.time > filter_.until))
    return false;
  const auto event = recording_.events().event_of_record(placed.record);
  perf_data::RecordId who;
  if (event) {
    const perf::SampleLayout& layout = recording_.events().layout(*event);
    who = placed.record.type == RecordType::sample ? layout.read_head(placed.record)
                                                   : layout.read_tail(placed.record);
  }
  const bool is_sample = placed.record.type == RecordType::sample;
  if (!filter_.events.empty() && !lets(filter_.events, is_sample ? event : std::nullopt))
    return false;
  const bool asks_code = !filter_.binaries.empty() || !filter_.symbols.empty();
  return passes_thread(who) && (!asks_code || (event && passes_code(placed.record, *event)));
}

}  // namespace loft::source
