#include "cli/report_outputs.hpp"

#include "source/file/schedule.hpp"
#include "source/file/wakeups.hpp"
#include "view/calls_exports.hpp"
#include "view/recording_page.hpp"
#include "view/regions.hpp"
#include "view/report.hpp"
#include "view/stacks.hpp"

namespace loft::cli {
namespace {

sample::TreeOrder order_of(const ShownReport& shown) {
  return shown.flags.tree == "callee" ? sample::TreeOrder::from_callees
                                      : sample::TreeOrder::from_callers;
}

sample::CallTree tree_of(const ShownReport& shown) {
  return sample::make_call_tree(shown.profile.result.tree, shown.profile.locations,
                                order_of(shown));
}

view::ShownTree shown_tree(const ShownReport& shown) {
  return {shown.profile, tree_of(shown), shown.flags.least_share / 100};
}

bool is_tree(const ShownReport& shown) { return !shown.flags.tree.empty(); }

std::string text(const ShownReport& shown) {
  if (!is_tree(shown))
    return view::report_text(shown.report, {shown.columns}) + view::regions_text(shown.regions);
  return view::recording_text(shown.report) + view::tree_text(shown_tree(shown));
}

std::string json(const ShownReport& shown) {
  return is_tree(shown) ? view::report_json(shown.report, shown_tree(shown))
                        : view::report_json(shown.report);
}

std::string csv(const ShownReport& shown) {
  return is_tree(shown) ? view::tree_csv(shown_tree(shown)) : view::report_csv(shown.report);
}

std::string folded(const ShownReport& shown) { return view::folded_stacks(shown.profile); }

std::string flame_graph(const ShownReport& shown) {
  return view::flame_graph(shown.profile, tree_of(shown));
}

Result<std::string> html(const ShownReport& shown) {
  // Not every recording tells of it, and with a filter it would be of more than the rest.
  auto wakeups = source::read_wakeups(shown.recording);
  if (!wakeups || !shown.filter.lets_all()) wakeups = std::vector<sample::Wakeups>();
  view::PageData page =
      view::recording_page({shown.report, shown.profile, source::read_schedule(shown.recording),
                            order_of(shown), shown.filter, shown.calls, *std::move(wakeups)});
  view::add_regions(shown.regions, page);
  return view::page_html(page);
}

Result<std::string> pprof(const ShownReport& shown) { return view::pprof_profile(shown.profile); }

// A form that is long, and made piece by piece.
template <auto Show>
Result<void> pieces(const ShownReport& shown, const PieceWriter& write) {
  Show(shown.profile, write);
  return {};
}

Result<void> perfetto(const ShownReport& shown, const PieceWriter& write) {
  bool goes_on = true;
  view::perfetto_trace(shown.profile,
                       [&](std::string_view piece) { return goes_on = write(piece); });
  if (goes_on && shown.calls != nullptr) view::calls_perfetto(*shown.calls, write);
  return {};
}

}  // namespace

const std::vector<Output<ShownReport>>& report_outputs() {
  constexpr unsigned kPage = kNeedsRows | kNeedsTree | kNeedsTimeline;
  constexpr unsigned kMoments = kNeedsTree | kNeedsTimeline | kShowsAll;
  static const std::vector<Output<ShownReport>> kOutputs{
      {{"text", {".txt"}, kNeedsRows}, whole<text>},
      {{"json", {".json", ".ndjson"}, kNeedsRows}, whole<json>},
      {{"csv", {".csv"}, kNeedsRows}, whole<csv>},
      {{"folded", {".folded"}, kNeedsTree}, whole<folded>},
      {{"svg", {".svg"}, kNeedsTree}, whole<flame_graph>},
      {{"html", {".html"}, kPage}, whole<html>},
      {{"pprof", {".pb.gz", ".pprof"}, kNeedsTree}, whole<pprof>},
      {{"speedscope", {".speedscope.json"}, kMoments}, pieces<view::speedscope_json>},
      {{"firefox", {".firefox.json", ".profile.json"}, kMoments}, pieces<view::firefox_json>},
      {{"perfetto", {".perfetto-trace", ".pftrace", ".perfetto"}, kMoments}, perfetto},
  };
  return kOutputs;
}

}  // namespace loft::cli
