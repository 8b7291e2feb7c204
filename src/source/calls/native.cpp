#include "source/calls/native.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

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

// CPU time of all threads, or the time that passed where that is not known.
double seconds_of(const ProcessEnd& end) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  const double used = seconds(end.usage.ru_utime) + seconds(end.usage.ru_stime);
  return used > 0 ? used : to_seconds(end.elapsed);
}

// What watching the most costly functions took, where it is more than the usual budget.
void note_cost(const sample::CallRequest& request, sample::CallRun& run, double nanoseconds) {
  if (request.has_budget) return;
  std::vector<std::pair<double, std::size_t>> costly;
  for (std::size_t i = 0; i < run.functions.size(); ++i) {
    const double seconds = static_cast<double>(run.statistics[i].calls) * nanoseconds * 1e-9;
    if (seconds > request.budget * seconds_of(run.end)) costly.emplace_back(seconds, i);
  }
  std::ranges::sort(costly, std::greater());
  constexpr std::size_t kMost = 3;
  std::string names;
  double sum = 0;
  for (std::size_t i = 0; i < costly.size(); ++i) {
    sum += costly[i].first;
    if (i < kMost) names += (i == 0 ? "" : ", ") + run.functions[costly[i].second].name;
  }
  if (costly.size() > kMost) names += fmt::format(" and {} others", costly.size() - kMost);
  if (!costly.empty())
    run.notes.push_back(fmt::format(
        "watching {} took about {:.0f} % of the time; --budget leaves such functions alone", names,
        std::min(100.0, 100 * sum / seconds_of(run.end))));
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
  note_cost(calls.request, run, watch.nanoseconds_per_call());
  if (is_attached)
    run.notes.push_back(fmt::format("the program was held for {:.1f} ms at most",
                                    static_cast<double>(watch.held().count()) / 1e6));
  return run;
}

}  // namespace loft::source::calls
