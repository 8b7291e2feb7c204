#include "cli/record_windows.hpp"

#include <fmt/format.h>

#include <thread>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/call_flags.hpp"
#include "cli/flags.hpp"
#include "job/folder.hpp"
#include "job/read_job.hpp"
#include "job/window.hpp"
#include "source/file/profile_recording.hpp"
#include "view/job.hpp"
#include "view/stacks.hpp"

namespace loft::cli {
namespace {

Result<std::string> pprof_of(const source::Recording& recording) {
  sample::ProfileOptions options;
  options.rows = false;
  options.tree = true;
  const unsigned workers = std::thread::hardware_concurrency();
  LOFT_TRY(const auto profiled, source::profile_recording(recording, options, {}, workers));
  return view::pprof_profile({recording.summary(), profiled.result, *profiled.locations,
                              recording.history(),
                              sample::events_of(recording.metadata().events, profiled.result)});
}

// The last window, for the textfile collector of Prometheus' node exporter.
Result<void> write_metrics(const std::string& folder, const std::string& node) {
  LOFT_TRY(const auto report, job::read_job(folder, {}));
  return replace_file(join_path(folder, job::folder_of_node(node) + ".prom"),
                      view::job_openmetrics(report));
}

}  // namespace

void add_window_flags(Command& command, WindowFlags& flags) {
  command.add_option("--window", flags.window,
                     "with -a and -o DIR: record windows of this length (30s), each a profile and "
                     "a summary in DIR");
  command.add_option("--every", flags.every, "with --window: one begins every so long (10m)");
  command.add_option("--keep", flags.keep, "with --window: how many stay (default: 144)")
      ->check(between(std::uint64_t{1}, std::uint64_t{1} << 20));
}

Result<int> record_windows(const WindowFlags& flags, const std::string& folder,
                           std::uint64_t frequency_hz, bool is_quiet, Terminal& terminal) {
  job::WindowRequest request;
  LOFT_TRY(request.length, parse_duration(flags.window));
  LOFT_TRY(const Nanoseconds every, parse_duration(flags.every.empty() ? "10m" : flags.every));
  if (request.length.count() <= 0 || request.length > every)
    return failure(ErrorKind::invalid_input, "record windows",
                   "a window takes some time, and ends before the next begins",
                   "write them like --window 30s --every 10m");
  if (frequency_hz != 0) request.period = Nanoseconds(std::chrono::seconds(1)) / frequency_hz;
  LOFT_TRY(source::Supervisor supervisor, source::Supervisor::create({}));
  while (!supervisor.is_interrupted()) {
    const Nanoseconds begin = now();
    LOFT_TRY(const auto window, job::record_window(request, supervisor));
    if (!window) break;
    LOFT_TRY(const std::string profile, pprof_of(*window->recording));
    LOFT_TRY(const auto files, job::keep_window(folder, *window, profile));
    const std::string& node = window->summary.rank.node;
    LOFT_CHECK(write_metrics(folder, node));
    LOFT_TRY([[maybe_unused]] const auto removed,
             job::remove_old_windows(folder, node, flags.keep));
    if (!is_quiet) terminal.note(printable(files.summary) + ", " + printable(files.profile) + "\n");
    (void)terminal.flush();  // a failure shows again at the end
    while (!supervisor.is_interrupted() && now() - begin < every)
      LOFT_CHECK(supervisor.wait(begin + every - now()));
  }
  return 0;
}

}  // namespace loft::cli
