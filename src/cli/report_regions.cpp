#include "cli/report_regions.hpp"

#include <algorithm>

#include "event/recording_schema.hpp"
#include "sample/region_section.hpp"
#include "view/regions.hpp"

namespace loft::cli {
namespace {

const std::vector<Output<sample::RunCounts>>& region_outputs() {
  static const std::vector<Output<sample::RunCounts>> kOutputs{
      {{"text", {".txt"}}, whole<view::regions_text>},
      {{"json", {".json"}}, whole<view::regions_json>},
      {{"csv", {".csv"}}, whole<view::regions_csv>},
  };
  return kOutputs;
}

Result<void> choose_threads(const ReportFlags& flags, sample::RunCounts& run) {
  for (const auto& [name, is_given] : {std::pair{"--comm", !flags.comms.empty()},
                                       {"--cpu", !flags.cpus.empty()},
                                       {"--dso", !flags.binaries.empty()},
                                       {"--symbol", !flags.symbol_names.empty()},
                                       {"--event", !flags.events.empty()},
                                       {"--pid", !flags.pids.empty()},
                                       {"--time", !flags.time.empty()}})
    if (is_given)
      return failure(ErrorKind::invalid_input, std::string("filter regions with ") + name,
                     "regions are chosen by --tid alone", "leave it out");
  if (flags.tids.empty()) return {};
  std::erase_if(run.regions, [&](const sample::RegionCounts& region) {
    return !region.thread ||
           std::ranges::find(flags.tids, static_cast<std::uint32_t>(
                                             run.threads[*region.thread].tid)) == flags.tids.end();
  });
  return {};
}

}  // namespace

Result<sample::RunCounts> regions_of(const source::Recording& recording) {
  for (const auto& [section, bytes] : recording.metadata().other_features) {
    if (section != event::recording::kRegionsSection) continue;
    LOFT_TRY(auto run, sample::read_region_section(std::as_bytes(std::span(bytes)),
                                                   recording.summary().path));
    const auto& history = recording.history();
    for (sample::ThreadCounts& thread : run.threads)
      if (thread.comm.empty())
        thread.comm = history.names()[history.comm_at(static_cast<std::uint32_t>(thread.tid),
                                                      ~std::uint64_t{0})];
    return run;
  }
  return sample::RunCounts{};
}

Result<int> show_regions(const ReportFlags& flags, const source::Recording& recording,
                         const OutputFlags& output, Terminal& terminal) {
  LOFT_TRY(const auto* form, choose_output(region_outputs(), output));
  LOFT_TRY(sample::RunCounts run, regions_of(recording));
  if (run.regions.empty())
    return failure(ErrorKind::unsupported, "show the regions of '" + recording.summary().path + "'",
                   "the program marked none", "include/loft/region.h says how");
  LOFT_CHECK(choose_threads(flags, run));
  LOFT_CHECK(write_output(*form, run, output, Stream::out, terminal));
  return 0;
}

}  // namespace loft::cli
