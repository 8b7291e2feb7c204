#include "cli/roof_outputs.hpp"

#include "cli/raster.hpp"
#include "cli/written.hpp"

namespace loft::cli {
namespace {

std::string text(const RoofReports& reports) {
  return view::roof_text(reports.runs, reports.columns);
}
std::string json(const RoofReports& reports) { return view::roof_json(reports.runs); }
std::string csv(const RoofReports& reports) { return view::roof_csv(reports.runs); }
std::string svg(const RoofReports& reports) { return view::roof_svg(reports.runs); }
Result<std::string> png(const RoofReports& reports) {
  return rasterized(view::roof_svg(reports.runs));
}
Result<std::string> html(const RoofReports& reports) {
  return view::roof_html(reports.runs, reports.profiles());
}

}  // namespace

view::RoofProfiles RoofReports::profiles() const {
  view::RoofProfiles profiles;
  for (const auto& one : measured) {
    profiles.emplace_back();
    if (one) profiles.back().emplace(one->native.named());
  }
  return profiles;
}

const std::vector<Output<RoofReports>>& roof_outputs() {
  static const std::vector<Output<RoofReports>> kOutputs{
      {{"text", {".txt"}}, whole<text>},
      {{"json", {".json"}}, whole<json>},
      {{"csv", {".csv"}}, whole<csv>},
      {{"svg", {".svg"}, kBesideText}, whole<svg>},
      {{"png", {".png"}, kBesideText}, whole<png>},
      {{"html", {".html"}, kBesideText | kShowsCode}, whole<html>},
      {{"recording", {".data"}, kBesideText | kIsRecording}, {}},
  };
  return kOutputs;
}

Result<void> write_reports(RoofReports& reports, const OutputFlags& flags, Stream stream,
                           Terminal& terminal) {
  LOFT_TRY(const auto* output, choose_output(roof_outputs(), flags));
  const bool is_beside = (output->needs & kBesideText) != 0 && !flags.file.empty();
  const bool on_screen =
      stream == Stream::notes ? terminal.notes_is_terminal() : terminal.out_is_terminal();
  if (on_screen && (is_beside || flags.file.empty())) reports.columns = terminal.columns();
  // What two runs have told is not lost when the disk is full.
  if (is_beside) LOFT_CHECK(write_result({}, text(reports), stream, terminal));
  if ((output->needs & kIsRecording) != 0) {
    if (stream == Stream::notes) tell_written(flags.file, terminal);
    return {};
  }
  return write_output(*output, reports, flags, stream, terminal);
}

}  // namespace loft::cli
