#include "view/stat_bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "base/xml_text.hpp"
#include "view/short_name.hpp"

namespace loft::view {
namespace {

using metric::Evaluated;
using metric::Value;

constexpr std::size_t kMostFunctions = 24;
constexpr double kWorthABar = 0.005;  // of the whole run
constexpr std::size_t kLongestBarName = 36;

// Readable by everybody: Okabe and Ito's colours.
constexpr std::array<std::string_view, 8> kBarColours{"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                                      "#D55E00", "#56B4E9", "#F0E442", "#999999"};

std::optional<double> in_unit(const Value& value, const metric::Unit& unit) {
  if (!value.number) return std::nullopt;
  return value.number->as_double() / unit.factor;
}

// Functions by how often the first event that was counted happened in them. What ran a few times
// has long bars of its first misses, which say nothing about the run.
std::vector<std::size_t> by_weight(const sample::RunCounts& run) {
  std::vector<std::size_t> order(run.functions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto event = std::ranges::find_if(
      run.events, [](const sample::CountedEvent& each) { return each.total.is_available(); });
  if (event == run.events.end()) return order;
  const auto column = static_cast<std::size_t>(event - run.events.begin());
  const auto weight = [&](std::size_t i) {
    const sample::Count& count = run.functions[i].counts[column];
    return count.is_available() ? count.value() : -1;
  };
  std::erase_if(order,
                [&](std::size_t i) { return weight(i) < kWorthABar * event->total.value(); });
  std::ranges::stable_sort(order, std::ranges::greater(), weight);
  if (order.size() > kMostFunctions) order.resize(kMostFunctions);
  return order;
}

StackedBars::Row bar_row(std::string name, const std::vector<const Value*>& values,
                         const metric::Unit& unit) {
  StackedBars::Row row{std::move(name), {}, false};
  for (const Value* value : values) {
    row.values.push_back(in_unit(*value, unit));
    row.is_estimated =
        row.is_estimated || (value->number && value->kind != sample::Origin::counted);
  }
  return row;
}

// 1, 2 or 5 times a power of ten, so that there are at most eight.
double tick_of(double most) {
  const double rough = most / 8;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0})
    if (decade * step >= rough) return decade * step;
  return decade * 10;
}

class BarDrawing {
 public:
  explicit BarDrawing(const StackedBars& bars) : bars_(bars) {
    for (const StackedBars::Row& row : bars.rows) most_ = std::max(most_, known_sum(row));
    if (most_ <= 0) most_ = 1;
  }

  std::string draw() {
    const double below = static_cast<double>(bars_.notes.size()) * kLine + 16;
    const double height = top() + static_cast<double>(bars_.rows.size()) * kRow + 40 + below;
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0} {1:.0f}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" role=\"img\">\n"
        "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n",
        kWidth, height, xml_text(bars_.title));
    text(16, 24, bars_.title, "font-size=\"15\" font-weight=\"bold\"");
    legend();
    axis();
    for (std::size_t i = 0; i < bars_.rows.size(); ++i) bar(i);
    const double start = top() + static_cast<double>(bars_.rows.size()) * kRow + 52;
    for (std::size_t i = 0; i < bars_.notes.size(); ++i)
      text(16, start + static_cast<double>(i) * kLine, bars_.notes[i], "fill=\"#555\"");
    return out_ + "</svg>\n";
  }

 private:
  static constexpr double kWidth = 960, kLeft = 280, kRight = 90, kRow = 24, kLine = 16;

  [[nodiscard]] double top() const { return 44 + static_cast<double>(bars_.parts.size()) * kLine; }
  [[nodiscard]] double x(double value) const {
    return kLeft + value / most_ * (kWidth - kLeft - kRight);
  }
  static double known_sum(const StackedBars::Row& row) {
    double sum = 0;
    for (const auto& value : row.values) sum += std::max(0.0, value.value_or(0));
    return sum;
  }
  void text(double at_x, double at_y, std::string_view what, std::string_view more = {}) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", at_x, at_y, more,
                        xml_text(what));
  }
  static std::string_view colour(std::size_t part) {
    return kBarColours[part % kBarColours.size()];
  }

  void legend() {
    for (std::size_t i = 0; i < bars_.parts.size(); ++i) {
      const double at = 44 + static_cast<double>(i) * kLine;
      out_ += fmt::format("<rect x=\"16\" y=\"{:.1f}\" width=\"11\" height=\"11\" fill=\"{}\"/>\n",
                          at - 10, colour(i));
      text(33, at, fmt::format("{}: {}", bars_.parts[i].name, bars_.parts[i].description));
    }
  }

  void axis() {
    const double bottom = top() + static_cast<double>(bars_.rows.size()) * kRow;
    const double step = tick_of(most_);
    for (double at = 0; at <= most_ * 1.0001; at += step) {
      out_ += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" "
          "stroke=\"#e0e0e0\"/>\n",
          x(at), top(), bottom);
      text(x(at), bottom + 16, fmt::format("{:.6g}", at), "text-anchor=\"middle\" fill=\"#444\"");
    }
    text((kLeft + kWidth - kRight) / 2, bottom + 34, bars_.unit, "text-anchor=\"middle\"");
  }

  void bar(std::size_t number) {
    const StackedBars::Row& row = bars_.rows[number];
    const double at = top() + static_cast<double>(number) * kRow + 4;
    const char* mark = row.is_estimated ? "~" : "";
    text(kLeft - 8, at + 12, short_name(printable(row.name), kLongestBarName),
         number == 0 ? "text-anchor=\"end\" font-weight=\"bold\"" : "text-anchor=\"end\"");
    double from = 0;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const double value = std::max(0.0, row.values[i].value_or(0));
      if (value <= 0) continue;
      out_ += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\">"
          "<title>{}</title></rect>\n",
          x(from), at, x(from + value) - x(from), kRow - 8, colour(i),
          xml_text(fmt::format("{}, {}: {}{:.4g} {}", printable(row.name), bars_.parts[i].name,
                               mark, value, bars_.unit)));
      from += value;
    }
    const auto sum = row.sum();
    text(x(from) + 6, at + 12, sum ? fmt::format("{}{:.3g}", mark, *sum) : "not all known",
         "fill=\"#222\"");
  }

  const StackedBars& bars_;
  double most_ = 0;
  std::string out_;
};

}  // namespace

std::optional<double> StackedBars::Row::sum() const {
  double sum = 0;
  for (const auto& value : values) {
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

Result<StackedBars> stacked_bars(const sample::RunCounts& run, const metric::RunMetrics& metrics) {
  const auto first = std::ranges::find_if(
      metrics.total, [](const Evaluated& each) { return each.value.number.has_value(); });
  if (first == metrics.total.end())
    return failure(
        ErrorKind::invalid_input, "draw bars",
        metrics.total.empty() ? "no metric was asked for" : "none of the metrics has a value",
        "give metrics of one unit that add up, as in: -e "
        "Branch_cat,Data_TLB_cat,Instr_TLB_cat,FP_cat,Data_mem_cat,Instr_mem_cat");
  StackedBars bars;
  bars.unit = first->unit.text;
  bars.title = run.target;
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < metrics.total.size(); ++i) {
    const Evaluated& metric = metrics.total[i];
    if (metric.unit.text != bars.unit) {
      bars.notes.push_back(
          fmt::format("{} is not drawn: its unit is {}", metric.name, metric.unit.text));
    } else if (!metric.value.number) {
      bars.notes.push_back(fmt::format("{} is not known: {}", metric.name, metric.value.why));
    } else {
      drawn.push_back(i);
      bars.parts.push_back({metric.name, metric.description});
    }
  }
  std::vector<const Value*> values;
  for (const std::size_t i : drawn) values.push_back(&metrics.total[i].value);
  bars.rows.push_back(bar_row("whole run", values, first->unit));
  for (const std::size_t function : by_weight(run)) {
    if (function >= metrics.functions.size()) break;
    values.clear();
    for (const std::size_t i : drawn) values.push_back(&metrics.functions[function][i]);
    if (std::ranges::none_of(values, [](const Value* value) { return value->number.has_value(); }))
      continue;
    bars.rows.push_back(bar_row(run.functions[function].name, values, first->unit));
  }
  return bars;
}

std::string bars_svg(const StackedBars& bars) { return BarDrawing(bars).draw(); }

Result<std::string> stat_svg(const sample::RunCounts& run, const metric::RunMetrics& metrics) {
  LOFT_TRY(const StackedBars bars, stacked_bars(run, metrics));
  return bars_svg(bars);
}

}  // namespace loft::view
