// Windows of everything that runs on a node, one now and then, for machines that are watched for
// weeks: of each window a summary and a profile stay, of the last so many.
//
//   LOFT_TRY(const auto window, record_window({.length = std::chrono::seconds(30)}, supervisor));
//   LOFT_TRY(const WindowFiles files, keep_window("fleet", *window, profile_bytes));
//   LOFT_TRY(const auto removed, remove_old_windows("fleet", window->summary.rank.node, 144));
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "job/summary.hpp"
#include "source/scheduler/sampled_run.hpp"
#include "source/supervisor.hpp"

namespace loft::job {

struct WindowRequest {
  Nanoseconds length{};
  Nanoseconds period{10'101'010};  // between two samples of a CPU: 99 times a second
};

struct Window {
  std::string name;                                    // when it began: "20240229T235959Z"
  RankSummary summary;                                 // of the only rank, which is the node
  std::unique_ptr<source::scheduler::SampledRun> run;  // keeps what the recording is read from
  std::unique_ptr<source::Recording> recording;
};

// Nothing where a signal came before its end: windows are alike.
[[nodiscard]] Result<std::optional<Window>> record_window(const WindowRequest& request,
                                                          source::Supervisor& supervisor);

// DIR/NODE/TIME.data and DIR/NODE/TIME.pb.gz.
struct WindowFiles {
  std::string summary;
  std::string profile;
};
[[nodiscard]] Result<WindowFiles> keep_window(const std::string& folder, const Window& window,
                                              std::string_view profile);

// All but the last so many of the node. Tells how many windows there were to remove.
[[nodiscard]] Result<std::size_t> remove_old_windows(const std::string& folder,
                                                     const std::string& node, std::size_t keep);

}  // namespace loft::job
