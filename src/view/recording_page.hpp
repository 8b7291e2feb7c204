// A recording as a report page: what `loft report -o FILE.html` writes.
//
//   page_html(recording_page({report, profile, source::read_schedule(*recording)}));
#pragma once

#include <vector>

#include "sample/calls.hpp"
#include "sample/named_profile.hpp"
#include "sample/run_slice.hpp"
#include "sample/wakeups.hpp"
#include "view/page.hpp"

namespace loft::view {

struct ShownRecording {
  const sample::Report& report;
  const sample::NamedProfile& profile;  // with its tree and its timeline
  std::vector<sample::RunSlice> schedule;
  sample::TreeOrder order = sample::TreeOrder::from_callers;
  // Samples that it let out of the profile are out of every part; the schedule follows its threads,
  // processes, CPUs and times.
  sample::ProfileFilter filter = {};
  const sample::CallRun* calls = nullptr;  // that were recorded beside it
  std::vector<sample::Wakeups> wakeups = {};
};

[[nodiscard]] PageData recording_page(const ShownRecording& shown);

}  // namespace loft::view
