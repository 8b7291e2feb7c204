#include "view/page_pack.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/text.hpp"

namespace loft::view {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "browsers read columns as they are");

constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kAlignment = 8;  // of every column

template <typename T>
const char* type_name() {
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, std::uint32_t>) return "u32";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "u8";
}

const char* word_of(WarningKind kind) {
  switch (kind) {
    case WarningKind::lost:
      return "lost";
    case WarningKind::scaled:
      return "scaled";
    case WarningKind::estimated:
      return "estimated";
    case WarningKind::missing:
      return "missing";
    case WarningKind::note:
      break;
  }
  return "note";
}

const char* word_of(CellForm form) {
  switch (form) {
    case CellForm::text:
      return "text";
    case CellForm::count:
      return "count";
    case CellForm::share:
      return "share";
    case CellForm::seconds:
      return "seconds";
    case CellForm::number:
      break;
  }
  return "number";
}

json texts_of(const std::vector<std::string>& texts) {
  json out = json::array();
  for (const auto& text : texts) out.push_back(printable(text));
  return out;
}

json roofline_of_page(const model::Roofline& roofline) {
  json slopes = json::array();
  for (const auto& slope : roofline.slopes)
    slopes.push_back({{"level", printable(slope.level)},
                      {"name", printable(slope.name)},
                      {"bytes_per_second", slope.bytes_per_second},
                      {"verdict", model::to_string(slope.verdict)},
                      {"basis", model::to_string(slope.basis)}});
  json ceilings = json::array();
  for (const auto& ceiling : roofline.ceilings)
    ceilings.push_back({{"name", printable(ceiling.name)},
                        {"flops_per_second", ceiling.flops_per_second},
                        {"verdict", model::to_string(ceiling.verdict)},
                        {"basis", model::to_string(ceiling.basis)}});
  return {{"machine", printable(roofline.machine)},
          {"precision", printable(roofline.precision)},
          {"unit", model::ops_unit(roofline.work)},
          {"threads", roofline.threads},
          {"slopes", std::move(slopes)},
          {"ceilings", std::move(ceilings)}};
}

class Packer {
 public:
  std::string pack(const PageData& page) {
    const std::string head = head_of(page).dump();
    std::string out(2 * sizeof(std::uint32_t), '\0');
    const auto length = static_cast<std::uint32_t>(head.size());
    std::memcpy(out.data(), &length, sizeof length);
    std::memcpy(out.data() + sizeof length, &kVersion, sizeof kVersion);
    out += head;
    align(out);
    return out + columns_;
  }

 private:
  static void align(std::string& bytes) {
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  }

  // A column of one value only is that value: most of what a slice does not have costs nothing.
  template <typename T>
  json column(const std::vector<T>& values) {
    json out = {{"type", type_name<T>()}, {"length", values.size()}};
    const auto is_first = [&](const T& value) {
      if constexpr (std::is_floating_point_v<T>)
        if (std::isinf(value)) return false;  // which JSON cannot say
      return std::memcmp(&value, values.data(), sizeof value) == 0;
    };
    if (std::all_of(values.begin(), values.end(), is_first)) {
      const T value = values.empty() ? T{} : values.front();
      out["all"] = value == value ? json(value) : json(nullptr);
      return out;
    }
    align(columns_);
    out["at"] = columns_.size();
    columns_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return out;
  }

  json head_of(const PageData& page) {
    json head = {{"schema", "loft.page/1"},
                 {"version", LOFT_PAGE_VERSION},
                 {"title", printable(page.title)},
                 {"command", printable(page.command)},
                 {"source", printable(page.source)},
                 {"verdict", texts_of(page.verdict)},
                 {"runs", texts_of(page.runs)},
                 {"points", points(page.points)},
                 {"schedule", page.schedule ? schedule(*page.schedule) : json(nullptr)},
                 {"calls", page.calls ? calls(*page.calls) : json(nullptr)}};
    head["histograms"] = json::array();
    for (const auto& one : page.histograms) head["histograms"].push_back(histogram(one));
    head["figures"] = figures(page);
    head["warnings"] = json::array();
    for (const auto& warning : page.warnings)
      head["warnings"].push_back(
          {{"kind", word_of(warning.kind)}, {"text", printable(warning.text)}});
    head["rooflines"] = json::array();
    for (const auto& roofline : page.rooflines)
      head["rooflines"].push_back(roofline_of_page(roofline));
    head["task"] = page.has_ranks ? "rank" : "thread";
    head["threads"] = json::array();
    for (const auto& thread : page.threads)
      head["threads"].push_back({{"tid", thread.tid},
                                 {"name", printable(thread.name)},
                                 {"node", printable(thread.node)}});
    head["time_lines"] = json::array();
    for (const auto& line : page.time_lines) head["time_lines"].push_back(time_line(line));
    head["flames"] = json::array();
    for (const auto& flame : page.flames) head["flames"].push_back(flame_graph(flame));
    head["tables"] = json::array();
    for (const auto& table : page.tables) head["tables"].push_back(table_of(table));
    head["codes"] = json::array();
    for (const auto& code : page.codes) head["codes"].push_back(code_of(code));
    head["facts"] = facts(page);
    return head;
  }

  static json figures(const PageData& page) {
    json out = json::array();
    for (const auto& figure : page.figures)
      out.push_back({{"label", printable(figure.label)},
                     {"value", printable(figure.value)},
                     {"note", printable(figure.note)},
                     {"origin", sample::to_string(figure.origin)}});
    return out;
  }

  static json facts(const PageData& page) {
    json out = json::array();
    for (const auto& list : page.facts) {
      json rows = json::array();
      for (const auto& fact : list.facts)
        rows.push_back({{"name", printable(fact.name)}, {"value", printable(fact.value)}});
      out.push_back({{"title", printable(list.title)}, {"facts", std::move(rows)}});
    }
    return out;
  }

  json points(const PagePoints& points) {
    return {{"count", points.size()},
            {"texts", texts_of(points.texts.all())},
            {"scope", column(points.scope)},
            {"origin", column(points.origin)},
            {"run", column(points.run)},
            {"name", column(points.name)},
            {"tid", column(points.tid)},
            {"function", column(points.function)},
            {"bound_by", column(points.bound_by)},
            {"why", column(points.why)},
            {"intensity", column(points.intensity)},
            {"flops_per_second", column(points.flops_per_second)},
            {"seconds", column(points.seconds)},
            {"share", column(points.share)},
            {"share_of_roof", column(points.share_of_roof)},
            {"start_s", column(points.start_s)},
            {"end_s", column(points.end_s)},
            {"levels",
             {{"point", column(points.levels.point)},
              {"name", column(points.levels.name)},
              {"intensity", column(points.levels.intensity)},
              {"share", column(points.levels.share)}}}};
  }

  json time_line(const PageTimeLine& line) {
    return {{"name", printable(line.name)},
            {"unit", printable(line.unit)},
            {"run", line.run},
            {"origin", sample::to_string(line.origin)},
            {"start_s", column(line.start_s)},
            {"end_s", column(line.end_s)},
            {"value", column(line.value)}};
  }

  json schedule(const PageSchedule& schedule) {
    return {{"tid", column(schedule.tid)},
            {"cpu", column(schedule.cpu)},
            {"start_s", column(schedule.start_s)},
            {"end_s", column(schedule.end_s)}};
  }

  json calls(const PageCalls& calls) {
    return {{"texts", texts_of(calls.texts.all())},
            {"name", column(calls.name)},
            {"tid", column(calls.tid)},
            {"depth", column(calls.depth)},
            {"start_s", column(calls.start_s)},
            {"end_s", column(calls.end_s)}};
  }

  json histogram(const PageHistogram& one) {
    return {{"title", printable(one.title)},
            {"quantity", printable(one.quantity)},
            {"unit", printable(one.unit)},
            {"p50", one.p50},
            {"p99", one.p99},
            {"low", column(one.low)},
            {"high", column(one.high)},
            {"count", column(one.count)}};
  }

  json flame_graph(const PageFlame& flame) {
    json out = {{"title", printable(flame.title)},      {"unit", printable(flame.unit)},
                {"texts", texts_of(flame.texts.all())}, {"parent", column(flame.parent)},
                {"name", column(flame.name)},           {"self", column(flame.self)},
                {"total", column(flame.total)},         {"is_kernel", column(flame.is_kernel)},
                {"from_callees", flame.from_callees}};
    if (!flame.more.empty()) {
      out["more"] = column(flame.more);
      out["noise"] = column(flame.noise);
    }
    return out;
  }

  json code_of(const PageCode& code) {
    json places = json::array();
    for (const auto& place : code.places)
      places.push_back({{"where", printable(place.where)}, {"text", printable(place.text)}});
    json waits = json::array();
    for (std::size_t i = 0; i < core::kWaits; ++i)
      waits.push_back(model::words_of(static_cast<core::Wait>(i)));
    return {{"name", printable(code.name)},        {"head", printable(code.head)},
            {"verdict", printable(code.verdict)},  {"places", std::move(places)},
            {"texts", texts_of(code.texts.all())}, {"waits", std::move(waits)},
            {"text", column(code.text)},           {"place", column(code.place)},
            {"wait", column(code.wait)},           {"from", column(code.from)},
            {"target", column(code.target)},       {"offset", column(code.offset)},
            {"count", column(code.count)},         {"share", column(code.share)},
            {"waited", column(code.waited)}};
  }

  json table_of(const PageTable& table) {
    json columns = json::array();
    for (const auto& one : table.columns) {
      json out = {{"name", printable(one.name)},
                  {"form", word_of(one.form)},
                  {"unit", printable(one.unit)},
                  {"help", printable(one.help)},
                  {"event", printable(one.event)}};
      if (one.form == CellForm::text)
        out["texts"] = texts_of(one.texts);
      else
        out["numbers"] = column(one.numbers);
      std::vector<std::uint8_t> origins;
      for (const auto origin : one.origins) origins.push_back(static_cast<std::uint8_t>(origin));
      if (!origins.empty()) out["origins"] = column(origins);
      columns.push_back(std::move(out));
    }
    return {{"title", printable(table.title)},
            {"left_out", printable(table.left_out)},
            {"columns", std::move(columns)}};
  }

  std::string columns_;
};

}  // namespace

std::string packed_page(const PageData& page) { return Packer().pack(page); }

}  // namespace loft::view
