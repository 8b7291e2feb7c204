#include "view/page.hpp"

#include "view/gzip.hpp"
#include "view/page_pack.hpp"
#include "view/page_template.hpp"

namespace loft::view {
namespace {

constexpr const char* kWhat = "write the report page";

template <typename... Columns>
bool same_length(std::size_t length, const Columns&... columns) {
  return ((columns.size() == length) && ...);
}

bool all_below(const std::vector<std::uint32_t>& numbers, std::size_t limit) {
  return std::all_of(numbers.begin(), numbers.end(), [&](auto one) { return one < limit; });
}

bool is_consistent(const PagePoints& points, std::size_t runs) {
  const std::size_t texts = points.texts.all().size();
  return same_length(points.size(), points.origin, points.run, points.name, points.tid,
                     points.function, points.bound_by, points.intensity, points.flops_per_second,
                     points.seconds, points.share, points.share_of_roof, points.start_s,
                     points.end_s) &&
         all_below(points.run, runs) && all_below(points.name, texts) &&
         all_below(points.function, texts) && all_below(points.bound_by, texts) &&
         same_length(points.levels.point.size(), points.levels.name, points.levels.intensity,
                     points.levels.share) &&
         all_below(points.levels.point, points.size()) && all_below(points.levels.name, texts);
}

bool is_consistent(const PageTimeLine& line, std::size_t runs) {
  return line.run < runs && same_length(line.value.size(), line.start_s, line.end_s) &&
         std::is_sorted(line.start_s.begin(), line.start_s.end());
}

bool is_consistent(const PageFlame& flame) {
  if (flame.parent.empty() ||
      !same_length(flame.parent.size(), flame.name, flame.self, flame.total, flame.is_kernel))
    return false;
  const std::size_t compared = flame.more.empty() ? 0 : flame.parent.size();
  if (!same_length(compared, flame.more, flame.noise)) return false;
  for (std::size_t i = 1; i < flame.parent.size(); ++i)
    if (flame.parent[i] >= i) return false;
  return all_below(flame.name, flame.texts.all().size());
}

bool is_consistent(const PageCalls& calls) {
  return same_length(calls.name.size(), calls.tid, calls.depth, calls.start_s, calls.end_s) &&
         all_below(calls.name, calls.texts.all().size());
}

std::size_t length_of(const PageColumn& column) {
  return column.form == CellForm::text ? column.texts.size() : column.numbers.size();
}

bool is_consistent(const PageTable& table) {
  if (table.columns.empty()) return false;
  const std::size_t rows = length_of(table.columns.front());
  return std::all_of(table.columns.begin(), table.columns.end(), [&](const PageColumn& column) {
    return length_of(column) == rows && (column.origins.empty() || column.origins.size() == rows);
  });
}

bool is_consistent(const PageCode& code) {
  const auto are_rows = [&](const std::vector<std::uint32_t>& rows) {
    return std::ranges::all_of(
        rows, [&](auto row) { return row == PageCode::kNoRow || row < code.text.size(); });
  };
  return same_length(code.text.size(), code.place, code.wait, code.from, code.target, code.offset,
                     code.count, code.share, code.waited) &&
         all_below(code.text, code.texts.all().size()) &&
         all_below(code.place, code.places.size()) && are_rows(code.from) && are_rows(code.target);
}

Result<void> check(const PageData& page) {
  const auto wrong = [](const std::string& part) {
    return failure(ErrorKind::internal, kWhat, "the data of its " + part + " do not fit together");
  };
  const std::size_t runs = std::max<std::size_t>(1, page.runs.size());
  if (!is_consistent(page.points, runs)) return wrong("points");
  for (const auto& line : page.time_lines)
    if (!is_consistent(line, runs)) return wrong("time line '" + line.name + "'");
  if (page.schedule && !same_length(page.schedule->tid.size(), page.schedule->cpu,
                                    page.schedule->start_s, page.schedule->end_s))
    return wrong("schedule");
  if (page.calls && !is_consistent(*page.calls)) return wrong("calls");
  for (const auto& histogram : page.histograms)
    if (!same_length(histogram.count.size(), histogram.low, histogram.high) ||
        histogram.count.empty())
      return wrong("histogram of '" + histogram.title + "'");
  for (const auto& flame : page.flames)
    if (!is_consistent(flame)) return wrong("flame graph '" + flame.title + "'");
  for (const auto& table : page.tables)
    if (!is_consistent(table)) return wrong("table '" + table.title + "'");
  for (const auto& code : page.codes)
    if (!is_consistent(code)) return wrong("code of '" + code.name + "'");
  return {};
}

void append_base64(std::string& out, std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    out += kDigits[group >> 18];
    out += kDigits[group >> 12 & 63];
    out += left > 1 ? kDigits[group >> 6 & 63] : '=';
    out += left > 2 ? kDigits[group & 63] : '=';
  }
}

}  // namespace

Result<std::string> page_html(const PageData& page) {
  LOFT_CHECK(check(page));
  LOFT_TRY(const auto packed, gzipped(packed_page(page), kWhat));
  const std::string_view whole = page_template();
  const std::size_t place = whole.find(kPageDataPlace);
  std::string out(whole.substr(0, place));
  append_base64(out, packed);
  return out.append(whole.substr(place + kPageDataPlace.size()));
}

}  // namespace loft::view
