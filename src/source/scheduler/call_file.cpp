#include "source/scheduler/call_file.hpp"

#include "sample/call_section.hpp"

namespace loft::source::scheduler {

Result<void> write_calls(const std::string& path, const sample::CallRun& run,
                         RecordingFacts facts) {
  namespace fact = event::recording::fact;
  RecordingPlan plan;
  plan.basics = 1;
  LOFT_TRY(auto file, RecordingFile::create_pending(path, std::move(plan)));
  const auto start = static_cast<std::uint64_t>(run.clock.at_zero.count());
  for (const sample::CallThread& thread : run.threads)
    file->take(Name{
        {start, 0},
        {static_cast<std::uint32_t>(thread.process), static_cast<std::uint32_t>(thread.thread)},
        thread.name});
  facts.loft.emplace_back(fact::kRecorder, "calls, " + run.route);
  facts.loft.emplace_back(fact::kWallNs, std::to_string(run.end.elapsed.count()));
  facts.loft.emplace_back(fact::kExitStatus, std::to_string(run.end.shell_status()));
  facts.loft.emplace_back(fact::kSeen, std::to_string(run.seen));
  facts.loft.emplace_back(fact::kLost, std::to_string(run.lost));
  LOFT_CHECK(file->finish(facts));
  return file->keep({{event::recording::kCallsSection, sample::call_section(run)}});
}

}  // namespace loft::source::scheduler
