// A recording as a report page: what `loft report -o FILE.html` writes.
#pragma once

#include "sample/named_profile.hpp"
#include "source/file/recording.hpp"
#include "view/page.hpp"

namespace loft::cli {

// The profile must have its tree and its timeline. Samples that `filter` let out of the profile are
// out of every part; the schedule follows its threads, processes, CPUs and times.
view::PageData report_page(const source::Recording& recording, const sample::Report& report,
                           const sample::NamedProfile& profile, sample::TreeOrder order,
                           const sample::ProfileFilter& filter);

}  // namespace loft::cli
