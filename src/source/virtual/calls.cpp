#include "source/virtual/calls.hpp"

#ifdef LOFT_HAS_ENGINE
#include "engine/run.hpp"
#include "source/supervisor.hpp"
#include "source/virtual/call_counting.hpp"
#endif

namespace loft::source::virtual_pmu {

#ifdef LOFT_HAS_ENGINE
Result<sample::CallRun> count_calls(const sample::CallRequest& request,
                                    const std::vector<std::string>& command,
                                    StandardStreams streams) {
  LOFT_TRY(engine::Run run, engine::Run::prepare(command, streams));
  CallCounting calls(request, run.shared());
  LOFT_CHECK(calls.start(BlockCounts::none));
  LOFT_TRY(Supervisor supervisor, Supervisor::create([&](int signal) { run.signal(signal); }));
  LOFT_CHECK(run.start());
  LOFT_CHECK(supervisor.follow(run.pid()));
  while (!supervisor.is_over()) LOFT_CHECK(supervisor.wait(std::nullopt));
  LOFT_TRY(const ProcessEnd end, run.child().wait());
  LOFT_CHECK(run.check());
  LOFT_TRY(sample::CallRun result, calls.finish());
  result.end = end;
  result.command = command;
  return result;
}
#else
Result<sample::CallRun> count_calls(const sample::CallRequest&, const std::vector<std::string>&,
                                    StandardStreams) {
  return failure(ErrorKind::unsupported, "watch calls with the virtual PMU",
                 "loft's engine runs x86-64 programs alone", "use --source native");
}
#endif

}  // namespace loft::source::virtual_pmu
