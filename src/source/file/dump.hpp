// All records that pass a filter in order of time, written by as many threads as there are.
#pragma once

#include <functional>
#include <memory>

#include "sample/fields.hpp"
#include "sample/locations.hpp"
#include "sample/profile.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

// Each thread writes with a writer of its own; `write` gets the texts in order. A `write` that
// gives false (a closed pipe) ends it.
void dump_records(const Recording& recording, sample::Locations& locations,
                  const sample::ProfileFilter& filter, unsigned workers,
                  const std::function<std::unique_ptr<sample::RecordWriter>()>& make_writer,
                  const std::function<bool(std::string_view)>& write);

}  // namespace loft::source
