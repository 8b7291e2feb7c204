#include "source/calls/native.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "source/calls/call_watch.hpp"
#include "source/supervisor.hpp"

namespace loft::source::calls {
namespace {

using namespace std::chrono_literals;

Result<void> follow(const NativeCalls& calls, Supervisor& supervisor, CallWatch& watch) {
  supervisor.on_readable(watch.fd(), [&] { watch.drain(); });
  const Nanoseconds begin = now();
  while (!supervisor.is_over() && !watch.error()) {
    std::optional<Nanoseconds> wait = watch.interval();
    if (calls.most) wait = std::min(wait.value_or(*calls.most), *calls.most - (now() - begin));
    if (wait && *wait <= 0ns) break;
    LOFT_CHECK(supervisor.wait(wait));
    watch.look();
  }
  return {};
}

Result<ProcessEnd> run_command(const NativeCalls& calls, CallWatch& watch) {
  LOFT_TRY(auto child, ChildProcess::prepare(calls.command, calls.streams));
  LOFT_TRY(auto supervisor, Supervisor::create([&](int signal) { child.signal(signal); }));
  supervisor.end_with(calls.life);
  LOFT_CHECK(watch.launch(child.pid()));
  LOFT_CHECK(child.start([&] { watch.drain(); }));
  LOFT_CHECK(supervisor.follow(child.pid()));
  LOFT_CHECK(follow(calls, supervisor, watch));
  if (watch.error()) {
    LOFT_CHECK(watch.detach());
    return Failure(*watch.error());
  }
  watch.drain();
  if (!supervisor.all_ended()) {  // nobody waits for it any more
    LOFT_CHECK(watch.detach());
    ProcessEnd end;
    end.elapsed = now() - child.start_time();
    child.release();
    return end;
  }
  LOFT_TRY(const ProcessEnd end, child.wait());
  LOFT_CHECK(watch.detach());  // processes that have outlived it
  return end;
}

Result<ProcessEnd> run_attached(const NativeCalls& calls, CallWatch& watch) {
  LOFT_TRY(auto supervisor, Supervisor::create({}));
  supervisor.end_with(calls.life);
  const Nanoseconds begin = now();
  for (const pid_t pid : calls.processes) {
    LOFT_CHECK(supervisor.follow(pid));
    LOFT_CHECK(watch.attach(pid));
  }
  LOFT_CHECK(follow(calls, supervisor, watch));
  watch.drain();
  LOFT_CHECK(watch.detach());
  if (watch.error()) return Failure(*watch.error());
  ProcessEnd end;
  end.elapsed = now() - begin;
  return end;
}

}  // namespace

Result<sample::CallRun> watch_calls(const NativeCalls& calls) {
  CallWatch watch(calls.request, calls.meters);
  const bool is_attached = calls.command.empty();
  LOFT_TRY(const ProcessEnd end,
           is_attached ? run_attached(calls, watch) : run_command(calls, watch));
  sample::CallRun run = watch.take();
  run.end = end;
  run.command = calls.command;
  if (is_attached)
    run.notes.push_back(fmt::format("the program was held for {:.1f} ms at most",
                                    static_cast<double>(watch.held().count()) / 1e6));
  return run;
}

}  // namespace loft::source::calls
