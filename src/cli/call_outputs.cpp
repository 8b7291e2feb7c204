#include "cli/call_outputs.hpp"

#include <array>

#include "view/calls_exports.hpp"
#include "view/calls_page.hpp"

namespace loft::cli {
namespace {

std::string text(const ShownCalls& shown) { return view::calls_text(shown.run, shown.options); }
std::string json(const ShownCalls& shown) { return view::calls_json(shown.run); }
std::string csv(const ShownCalls& shown) { return view::calls_csv(shown.run, shown.options); }
std::string folded(const ShownCalls& shown) { return view::calls_folded(shown.run); }
Result<std::string> html(const ShownCalls& shown) {
  return view::page_html(view::calls_page(shown.run));
}
Result<std::string> pprof(const ShownCalls& shown) { return view::calls_pprof(shown.run); }

Result<void> perfetto(const ShownCalls& shown, const PieceWriter& write) {
  view::calls_perfetto(shown.run, write);
  return {};
}

constexpr std::array kTables{std::pair{"functions", view::CallTables::functions},
                             std::pair{"slowest", view::CallTables::slowest},
                             std::pair{"tree", view::CallTables::tree},
                             std::pair{"list", view::CallTables::list}};

}  // namespace

const std::vector<Output<ShownCalls>>& call_outputs() {
  static const std::vector<Output<ShownCalls>> kOutputs{
      {{"text", {".txt"}}, whole<text>},
      {{"json", {".json"}}, whole<json>},
      {{"csv", {".csv"}}, whole<csv>},
      {{"folded", {".folded"}}, whole<folded>},
      {{"html", {".html"}}, whole<html>},
      {{"pprof", {".pb.gz", ".pprof"}}, whole<pprof>},
      {{"perfetto", {".perfetto-trace", ".pftrace", ".perfetto"}}, perfetto},
  };
  return kOutputs;
}

view::CallTables tables_named(const std::string& word) {
  for (const auto& [name, tables] : kTables)
    if (word == name) return tables;
  return view::CallTables::all;
}

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const auto& [name, tables] : kTables) names.emplace_back(name);
  return names;
}

}  // namespace loft::cli
