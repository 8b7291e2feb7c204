#include "fuzz/every_view.hpp"

#include "sample/profile.hpp"
#include "sample/report.hpp"
#include "source/file/count_recording.hpp"
#include "source/file/recording.hpp"
#include "source/file/schedule.hpp"
#include "source/file/tasks.hpp"
#include "view/page.hpp"
#include "view/recording_page.hpp"
#include "view/recording_tables.hpp"
#include "view/report.hpp"
#include "view/stat.hpp"
#include "view/tasks.hpp"

namespace loft::fuzz {
namespace {

std::size_t show_tasks(const source::Recording& recording) {
  const sample::TaskTable table = source::read_tasks(recording);
  std::size_t size = view::schedule_text(table, 80).size();
  for (const auto make : {view::threads_text, view::threads_csv, view::threads_json,
                          view::schedule_svg, view::schedule_csv, view::schedule_json,
                          view::slices_text, view::slices_csv, view::slices_json})
    size += make(table).size();
  return size;
}

std::size_t show_profile(const source::Recording& recording) {
  symbols::SymbolOptions nowhere;  // what a recording names must not be opened
  nowhere.root = SystemRoot("/nonexistent");
  nowhere.recorded = recording.metadata().recorded_binaries;
  symbols::SymbolStore store(std::move(nowhere));
  sample::Locations locations(recording.history(), store, {});
  sample::ProfileOptions options;
  options.inclusive = options.tree = options.timeline = options.rows = true;
  sample::Profile profile(recording.history(), locations, recording.metadata().events, options);
  recording.for_each_sample(2, [&](unsigned worker) { return profile.worker(worker); });
  const auto result = profile.finish();
  const auto report =
      sample::make_report(recording.summary(), result, locations, recording.history(), {});
  const sample::NamedProfile named{recording.summary(), result, locations, recording.history(),
                                   report.events};
  std::size_t size = view::report_text(report, {}).size() + view::report_json(report).size();
  size += view::stat_table(recording.summary()).size() + view::results_table(report).size();
  size += view::processes_table(recording.history(), result, report.events).size();
  const view::PageData page =
      view::recording_page({report, named, source::read_schedule(recording)});
  return size + sizeof page;
}

}  // namespace

std::size_t show_every_view(Bytes bytes) {
  const auto recording = source::Recording::of_bytes(bytes);
  if (!recording) return 0;
  const sample::RunCounts counts = source::count_recording(**recording);
  std::size_t size = view::stat_text(counts).size() + view::stat_csv(counts).size();
  size += view::stat_json(counts).size();
  return size + show_tasks(**recording) + show_profile(**recording);
}

}  // namespace loft::fuzz
