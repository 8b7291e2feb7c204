#include "job/window.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "base/file.hpp"
#include "job/folder.hpp"
#include "job/rank_file.hpp"
#include "job/summarize.hpp"

namespace loft::job {
namespace {

constexpr Nanoseconds kDrainStep = std::chrono::milliseconds(200);
constexpr std::string_view kSummaryEnding = ".data";
constexpr std::string_view kProfileEnding = ".pb.gz";

std::string utc_name(std::time_t seconds) {
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "00000000T000000Z";
  (void)std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return text.data();
}

}  // namespace

Result<std::optional<Window>> record_window(const WindowRequest& request,
                                            source::Supervisor& supervisor) {
  source::scheduler::SampledRunRequest sampling;
  sampling.whole_machine = true;
  sampling.period = request.period;
  Window window;
  LOFT_TRY(window.run, source::scheduler::SampledRun::prepare(sampling));
  const auto started = std::chrono::system_clock::now().time_since_epoch();
  const Nanoseconds begin = now();
  LOFT_CHECK(window.run->start());
  while (!supervisor.is_interrupted() && now() - begin < request.length) {
    LOFT_CHECK(
        supervisor.wait(std::clamp(begin + request.length - now(), Nanoseconds(0), kDrainStep)));
    window.run->drain();
  }
  if (supervisor.is_interrupted()) return std::nullopt;
  const Nanoseconds length = now() - begin;
  LOFT_TRY(window.recording, window.run->finish());
  window.name = utc_name(std::chrono::duration_cast<std::chrono::seconds>(started).count());
  RankSummary& summary = window.summary;
  summary.rank = only_rank();
  summary.rank.node = own_whereabouts().node;
  summary.rank.launch = window.name;
  summary.command = "everything on " + summary.rank.node;
  summary.source = to_string(sample::Source::perf_events);
  summary.state = State::ended;
  summary.start_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(started).count());
  summary.notes = window.run->notes();
  LOFT_CHECK(add_recording(*window.recording, summary));
  summary.wall_ns = static_cast<std::uint64_t>(length.count());
  return window;
}

Result<WindowFiles> keep_window(const std::string& folder, const Window& window,
                                std::string_view profile) {
  const std::string base =
      join_path(join_path(folder, folder_of_node(window.summary.rank.node)), window.name);
  WindowFiles files{base + std::string(kSummaryEnding), base + std::string(kProfileEnding)};
  LOFT_CHECK(replace_file(files.profile, profile));
  LOFT_CHECK(write_rank_file(files.summary, window.summary));
  return files;
}

Result<std::size_t> remove_old_windows(const std::string& folder, const std::string& node,
                                       std::size_t keep) {
  const std::string inner = join_path(folder, folder_of_node(node));
  LOFT_TRY(const auto names, list_directory(inner));  // sorted, and so by time
  std::vector<std::string> windows;
  for (const std::string& name : names) {
    const std::string window = name.substr(0, name.find('.'));
    if (is_window_name(window) && (windows.empty() || windows.back() != window))
      windows.push_back(window);
  }
  const std::size_t removed = windows.size() - std::min(windows.size(), keep);
  for (std::size_t i = 0; i < removed; ++i)
    for (const std::string_view ending : {kSummaryEnding, kProfileEnding})
      ::unlink(join_path(inner, windows[i] + std::string(ending)).c_str());
  return removed;
}

}  // namespace loft::job
