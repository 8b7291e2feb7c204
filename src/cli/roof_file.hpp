// A roofline run kept as a recording: a perf.data of its native run, with what was counted, by the
// virtual PMU or the machine's counters, and the machine's roofs in header sections of loft's own,
// which other readers skip.
//
//   first.run->add_feature(kWorkFeature, to_bytes(work_json(native_counts, counted)));
//   ...
//   LOFT_TRY(const KeptRun kept, read_run("before.data"));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "event/recording_schema.hpp"
#include "model/machine_model.hpp"
#include "sample/counting.hpp"
#include "source/file/recording.hpp"

namespace loft::cli {

// Far above the bits that perf uses.
inline constexpr std::uint32_t kWorkFeature = event::recording::kWorkSection;
inline constexpr std::uint32_t kMachineFeature = event::recording::kMachineSection;

// The native run's times and everything that was counted, as text.
[[nodiscard]] std::string work_json(const sample::RunCounts& native,
                                    const sample::RunCounts& counted);

struct KeptRun {
  std::unique_ptr<source::Recording> recording;
  sample::RunCounts native;
  sample::RunCounts counted;
  model::Machine machine;
};

// A file that `loft roof -o FILE.data` wrote. Any other recording is an error that says so.
[[nodiscard]] Result<KeptRun> read_run(const std::string& path);

[[nodiscard]] std::vector<std::byte> to_bytes(std::string_view text);

}  // namespace loft::cli
