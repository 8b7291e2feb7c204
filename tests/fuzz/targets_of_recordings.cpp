// The target that reads whole recordings.
#include "fuzz/targets.hpp"
#include "sample/profile.hpp"
#include "sample/report.hpp"
#include "source/file/dump.hpp"
#include "source/file/recording.hpp"
#include "view/records.hpp"
#include "view/report.hpp"

namespace loft::fuzz {

// Threads that walk parts must find what one finds that walks it all.
void compare_walks(Bytes bytes, const source::Recording& whole) {
  const auto parts = source::Recording::of_bytes(bytes, {.workers = 2, .part = 512});
  if (!parts || (*parts)->summary().records != whole.summary().records ||
      (*parts)->summary().damaged_bytes != whole.summary().damaged_bytes ||
      (*parts)->history().names() != whole.history().names())
    __builtin_trap();
}

void fuzz_recording(Bytes bytes) {
  const auto recording = source::Recording::of_bytes(bytes);
  if (!recording) return;
  compare_walks(bytes, **recording);
  // No binary of this machine is looked at: what a fuzzer names must not be opened.
  symbols::SymbolOptions nowhere;
  nowhere.root = SystemRoot("/nonexistent");
  nowhere.kallsyms = (*recording)->kallsyms();
  nowhere.recorded = (*recording)->metadata().recorded_binaries;
  symbols::SymbolStore store(std::move(nowhere));
  sample::Locations locations((*recording)->history(), store, {});
  sample::ProfileOptions options;
  options.inclusive = options.tree = options.timeline = true;
  sample::Profile profile((*recording)->history(), locations, (*recording)->metadata().events,
                          options);
  (*recording)->for_each_sample(1, [&](unsigned worker) { return profile.worker(worker); });
  const auto result = profile.finish();
  const auto report =
      sample::make_report((*recording)->summary(), result, locations, (*recording)->history(), {});
  (void)view::report_text(report, {});
  (void)view::report_json(report);
  source::dump_records(
      **recording, locations, {}, 1, [] { return std::make_unique<view::RecordJson>(); },
      [](std::string_view) { return true; });
}

}  // namespace loft::fuzz
