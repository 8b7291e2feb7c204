// A roofline run kept as a recording: a perf.data of its native run, with what was counted, by the
// virtual PMU or the machine's counters, and the machine's roofs in header sections of loft's own,
// which other readers skip.
//
//   LOFT_CHECK(run->keep(features_of(native_counts, counted, machine)));
//   ...
//   LOFT_TRY(const KeptRun kept, read_run(*recording));
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/machine_model.hpp"
#include "roof/counted_work.hpp"
#include "roof/kept_analysis.hpp"
#include "source/file/recording.hpp"

namespace loft::roof {

using Features = std::map<std::uint32_t, std::vector<std::byte>>;
[[nodiscard]] Features features_of(const sample::RunCounts& native, const CountedWork& counted,
                                   const model::Machine& machine,
                                   const KeptAnalysis& analysis = {});

// Of a recording by the virtual PMU (roof/virtual_recording.hpp): its loops, by what its basic
// blocks counted. Nothing where the events do not suffice.
[[nodiscard]] Features loop_features(const sample::RunCounts& blocks);
// Nothing where the recording has no such section.
[[nodiscard]] Result<std::optional<KeptAnalysis>> read_kept_analysis(
    const source::Recording& recording);

struct KeptRun {
  sample::RunCounts native;
  CountedWork counted;
  model::Machine machine;
  KeptAnalysis analysis;  // empty in files of older versions
};

// Whether `loft roof -o FILE.data` wrote it.
[[nodiscard]] bool is_kept_run(const source::Recording& recording);
// A recording that `loft roof -o FILE.data` wrote. Any other is an error that says so.
[[nodiscard]] Result<KeptRun> read_run(const source::Recording& recording);

// What was counted, as text and back. `where` names the file in errors.
[[nodiscard]] std::string work_json(const sample::RunCounts& native, const CountedWork& counted);
[[nodiscard]] Result<void> read_work(const std::string& where, const std::string& text,
                                     KeptRun& kept);

}  // namespace loft::roof
