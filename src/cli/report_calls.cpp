#include "cli/report_calls.hpp"

#include "cli/call_outputs.hpp"
#include "event/recording_schema.hpp"
#include "sample/call_filter.hpp"
#include "sample/call_section.hpp"
#include "source/file/time_range.hpp"

namespace loft::cli {
namespace {

const std::string* section_of_calls(const source::Recording& recording) {
  for (const auto& [section, bytes] : recording.metadata().other_features)
    if (section == event::recording::kCallsSection) return &bytes;
  return nullptr;
}

Result<sample::CallRun> read_calls(const source::Recording& recording) {
  const std::string& path = recording.summary().path;
  if (const auto* bytes = section_of_calls(recording))
    return sample::read_call_section(std::as_bytes(std::span(*bytes)), path);
  return failure(ErrorKind::unsupported, "show the calls of '" + path + "'", "it holds none",
                 "record them with: loft record --calls 'PATTERN' -o " + path + " -- CMD");
}

// From the first beginning to the last end.
std::optional<source::TimeRange> range_of(const sample::CallRun& run) {
  std::optional<source::TimeRange> range;
  for (const sample::KeptCall& call : run.calls) {
    const auto begin = static_cast<std::uint64_t>(run.clock.time_of(call.begin).count());
    const auto end = static_cast<std::uint64_t>(run.clock.time_of(call.begin + call.ticks).count());
    if (!range) range = {begin, end};
    range->first = std::min(range->first, begin);
    range->second = std::max(range->second, end);
  }
  return range;
}

// `whole`: what shares of the time are of.
Result<sample::CallFilter> filter_of(const ReportFlags& flags,
                                     const std::optional<source::TimeRange>& whole) {
  for (const auto& [name, is_given] : {std::pair{"--comm", !flags.comms.empty()},
                                       {"--cpu", !flags.cpus.empty()},
                                       {"--event", !flags.events.empty()}})
    if (is_given)
      return failure(ErrorKind::invalid_input, std::string("filter calls with ") + name,
                     "calls are chosen by --pid, --tid, --dso, --symbol and --time",
                     "leave it out");
  sample::CallFilter filter;
  filter.processes.insert(flags.pids.begin(), flags.pids.end());
  filter.threads.insert(flags.tids.begin(), flags.tids.end());
  filter.binaries = flags.binaries;
  filter.functions = flags.symbol_names;
  if (flags.time.empty()) return filter;
  LOFT_TRY(const auto range, source::parse_time_range(flags.time, whole));
  filter.from = Nanoseconds(static_cast<std::int64_t>(range.first));
  constexpr std::uint64_t kLatest = ~std::uint64_t{0} >> 1;
  filter.until = Nanoseconds(static_cast<std::int64_t>(std::min(range.second, kLatest)));
  return filter;
}

}  // namespace

Result<std::optional<sample::CallRun>> calls_beside(const ReportFlags& flags,
                                                    const source::Recording& recording) {
  std::optional<sample::CallRun> part;
  if (section_of_calls(recording) == nullptr || !flags.comms.empty() || !flags.cpus.empty() ||
      !flags.events.empty())
    return part;
  LOFT_TRY(const sample::CallRun run, read_calls(recording));
  std::optional<source::TimeRange> whole;
  if (const auto& summary = recording.summary(); summary.first_time && summary.last_time)
    whole = {*summary.first_time, *summary.last_time};
  LOFT_TRY(const sample::CallFilter filter, filter_of(flags, whole));
  LOFT_TRY(part, select(run, filter));
  return part;
}

Result<int> show_calls(const ReportFlags& flags, const source::Recording& recording,
                       const OutputFlags& output, Terminal& terminal) {
  LOFT_TRY(const auto* form, choose_output(call_outputs(), output));
  LOFT_TRY(const sample::CallRun run, read_calls(recording));
  LOFT_TRY(const sample::CallFilter filter, filter_of(flags, range_of(run)));
  LOFT_TRY(const sample::CallRun part, select(run, filter));
  view::CallViewOptions options;
  options.tables = tables_named(flags.calls);
  if (flags.top != 0) options.rows = flags.top;
  LOFT_CHECK(write_output(*form, ShownCalls{part, options}, output, Stream::out, terminal));
  return 0;
}

}  // namespace loft::cli
