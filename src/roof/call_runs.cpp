#include "roof/call_runs.hpp"

#include "roof/repeat_streams.hpp"
#include "sample/call_join.hpp"
#include "source/calls/native.hpp"
#include "source/virtual/calls.hpp"

namespace loft::roof {

Result<sample::CallRun> count_calls_twice(const sample::CallRequest& request,
                                          const std::vector<std::string>& command, Heard heard,
                                          source::calls::CallMeters beside) {
  LOFT_TRY(RepeatStreams streams, RepeatStreams::prepare());
  source::calls::NativeCalls native;
  native.request = request;
  native.request.events.clear();
  native.command = command;
  native.meters = std::move(beside);
  native.streams = streams.first();
  if (heard == Heard::never) {
    LOFT_TRY(native.streams, streams.second());
  }
  LOFT_TRY(sample::CallRun timed, source::calls::watch_calls(native));
  if (was_ended(timed.end.shell_status())) {
    timed.notes.emplace_back(
        "it was interrupted before its second run, under the virtual PMU: what its calls did is "
        "not known");
    return timed;
  }
  LOFT_TRY(const auto second, streams.second());
  LOFT_TRY(const sample::CallRun counted,
           source::virtual_pmu::count_calls(request, command, second));
  sample::CallRun joined = join_counts(std::move(timed), counted);
  if (!streams.note().empty()) joined.notes.push_back(streams.note());
  if (const auto difference = heard == Heard::once ? streams.difference() : std::nullopt)
    joined.notes.push_back(*difference +
                           ": if it did other work, and did not just print other times, counts and "
                           "times do not belong together");
  return joined;
}

}  // namespace loft::roof
