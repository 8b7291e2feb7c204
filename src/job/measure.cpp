#include "job/measure.hpp"

#include "job/summarize.hpp"
#include "roof/measure.hpp"
#include "roof/native.hpp"
#include "roof/once.hpp"
#include "source/choice/count.hpp"

namespace loft::job {

Result<void> measure_time(const std::vector<std::string>& command,
                          const std::vector<event::Event>& events, RankSummary& summary) {
  LOFT_TRY(roof::NativeRun native, roof::run_natively({.command = command, .events = events}));
  summary.source = to_string(sample::Source::perf_events);
  summary.exit_status = native.counts.exit_status;
  summary.wall_ns = static_cast<std::uint64_t>(native.counts.wall.count());
  const sample::Count& clock = native.counts.events.front().total;
  if (clock.is_available()) summary.cpu_ns = clock.raw;
  for (const std::string& note : native.counts.notes) summary.notes.push_back(note);
  LOFT_TRY(const auto recording, native.run->finish());
  return add_recording(*recording, summary);
}

Result<void> measure_both(const std::vector<std::string>& command,
                          const roof::WorkCounters& counters, RankSummary& summary) {
  LOFT_TRY(const auto measured, roof::measure_by_counters({.command = command}, counters, {}));
  const sample::RunCounts& counts = measured.native.counts;
  summary.source = to_string(sample::Source::perf_events);
  summary.exit_status = counts.exit_status;
  summary.wall_ns = static_cast<std::uint64_t>(counts.wall.count());
  summary.cpu_ns = static_cast<std::uint64_t>(measured.native.cpu_seconds() * 1e9);
  const roof::Joined joined = roof::join(measured.native.times(), measured.counted);
  add_subjects(joined.subjects, sample::Origin::scaled, summary);
  for (const std::string& note : counts.notes) summary.notes.push_back(note);
  return {};
}

Result<void> measure_both_once(const std::vector<std::string>& command, RankSummary& summary) {
  LOFT_TRY(const roof::CountedRun run, roof::run_once(command, {}));
  summary.source = to_string(sample::Source::virtual_pmu);
  summary.exit_status = run.exit_status;
  summary.wall_ns = static_cast<std::uint64_t>(run.wall_seconds * 1e9);
  add_subjects(run.subjects, sample::Origin::modelled, summary);
  for (const std::string& note : run.notes) summary.notes.push_back(note);
  return {};
}

Result<void> measure_work(const std::vector<std::string>& command,
                          const std::vector<event::Event>& events, RankSummary& summary) {
  source::CountRequest request;
  request.command = command;
  request.events = events;
  request.split = source::Split::functions;
  source::CountOptions options;
  options.only = sample::Source::virtual_pmu;
  options.on_incomplete = [&](const Error& why) { summary.notes.push_back(to_string(why)); };
  LOFT_TRY(const sample::RunCounts counts, source::count(request, options));
  add_counts(counts, summary);
  return {};
}

}  // namespace loft::job
