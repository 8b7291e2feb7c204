#include "view/roofline_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/xml_text.hpp"
#include "view/short_name.hpp"

namespace loft::view {
namespace {

using model::RoofKind;

constexpr double kLeft = 76;
constexpr double kRight = 24;
constexpr double kTop = 56;
constexpr double kBottom = 60;
constexpr double kLineHeight = 15;
constexpr std::size_t kLongestName = 44;

// Readable by everybody: Okabe and Ito's colours, dark enough on white.
constexpr std::array<std::string_view, 5> kSlopeColours{"#0072B2", "#009E73", "#B8860B", "#D55E00",
                                                        "#7F3F98"};

// Of points, one for each run: apart from the slopes' and from each other.
constexpr std::array<std::string_view, 4> kSeriesColours{"#CC3311", "#0077BB", "#EE7733",
                                                         "#009988"};

// Words stay readable where they cross a line.
constexpr std::string_view kHalo =
    "stroke=\"#fff\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"";

// A point that can be drawn, and what is written beside it.
struct Mark {
  const model::RoofPoint& point;
  std::string name;
  std::size_t series;

  [[nodiscard]] double intensity() const { return *point.intensity; }
  // Of the levels beyond the core as well.
  [[nodiscard]] std::vector<double> intensities() const {
    std::vector<double> all{intensity()};
    for (const model::LevelPoint& level : point.levels)
      if (level.intensity) all.push_back(*level.intensity);
    return all;
  }
  [[nodiscard]] double rate() const { return *point.ops_per_second; }
  [[nodiscard]] double share_of_time() const { return point.subject.share_of_time; }
  [[nodiscard]] bool is_estimated() const {
    return point.subject.origin != sample::Origin::counted;
  }
};

std::vector<Mark> marks_of(std::span<const PointSeries> series) {
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < series.size(); ++i)
    for (const model::RoofPoint* point : series[i].points) {
      if (!point->intensity || !point->ops_per_second) continue;
      const bool is_run = point->subject.scope == model::Scope::run;
      std::string name = is_run ? "whole run" : point->subject.name;
      if (point->subject.loop) name += ", loop " + name_of(*point->subject.loop);
      const std::string& label = series[i].label;
      marks.push_back({*point, label.empty() ? name : label + ": " + name, i});
    }
  return marks;
}

class Drawing {
 public:
  Drawing(const model::Roofline& roofline, std::span<const PointSeries> series, DrawingSize size)
      : roofline_(roofline), unit_(ops_unit(roofline.work)), marks_(marks_of(series)), size_(size) {
    choose_range();
  }

  std::string draw();

 private:
  void choose_range();
  [[nodiscard]] bool has_place(const Mark& mark) const;
  [[nodiscard]] double x(double intensity) const;
  [[nodiscard]] double y(double flops) const;
  void grid();
  void slopes();
  void ceilings();
  void points();
  void levels(const Mark& mark);
  void label(double at_x, double at_y, double radius, const std::string& name);
  void title();
  void text(double at_x, double at_y, std::string_view what, std::string_view more);

  // Of work, where there is room for words.
  [[nodiscard]] std::string_view ops() const {
    return roofline_.work == RoofKind::flops     ? std::string_view(unit_)
           : roofline_.work == RoofKind::integer ? "operations on integers"
                                                 : "instructions";
  }

  [[nodiscard]] bool has_levels() const {
    return std::ranges::any_of(marks_, [](const Mark& mark) { return !mark.point.levels.empty(); });
  }
  [[nodiscard]] std::string_view colour_of(const std::string& level) const {
    for (std::size_t i = 0; i < roofline_.slopes.size(); ++i)
      if (roofline_.slopes[i].level == level) return kSlopeColours[i % kSlopeColours.size()];
    return "#555";
  }

  const model::Roofline& roofline_;
  std::string unit_;
  std::vector<Mark> marks_;
  DrawingSize size_;
  double least_intensity_ = 1.0 / 64;
  double most_intensity_ = 64;
  double least_flops_ = 1e8;
  double most_flops_ = 1e12;
  struct Box {
    double left = 0, top = 0, right = 0, bottom = 0;
    [[nodiscard]] bool meets(const Box& other) const {
      return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
  };
  std::vector<Box> taken_;  // by words and marks
  std::string out_;
};

// About; it depends on the font that the reader has.
double text_width(std::string_view words) {
  constexpr double kLetter = 7;
  return kLetter * static_cast<double>(std::ranges::count_if(
                       words, [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

// Whole octaves around the ridge of the topmost roofs and around all points; performance from the
// lowest slope's start to above the highest ceiling, in whole decades below.
void Drawing::choose_range() {
  const double ridge = roofline_.ridge();
  if (ridge > 0) {
    // The flattest slope must still meet the highest ceiling inside the drawing.
    const double last_ridge =
        roofline_.ceilings.front().flops_per_second / roofline_.slopes.back().bytes_per_second;
    least_intensity_ = std::exp2(std::floor(std::log2(ridge)) - 5);
    most_intensity_ = std::exp2(std::ceil(std::log2(last_ridge)) + 2);
    most_flops_ = roofline_.ceilings.front().flops_per_second * 2.2;
  }
  const double roofs_start = least_intensity_;
  // What hardly reaches a level is far right of all roofs there, and drawn at the edge.
  const double far = most_intensity_ * 4;
  double best = 0;
  for (const Mark& mark : marks_) best = std::max(best, mark.rate());
  // A handful of operations among millions of bytes would push all others into a corner.
  const auto is_worth_seeing = [&](const Mark& mark) {
    return mark.intensity() > 0 && mark.rate() > 0 &&
           (mark.rate() >= best / 1000 || mark.intensity() >= roofs_start / 10 ||
            mark.share_of_time() >= 1);
  };
  for (const Mark& mark : marks_) {
    if (!is_worth_seeing(mark)) continue;
    for (const double each : mark.intensities()) {
      const double seen = each == mark.intensity() ? each : std::min(each, far);
      least_intensity_ = std::min(least_intensity_, std::exp2(std::floor(std::log2(seen))));
      most_intensity_ = std::max(most_intensity_, std::exp2(std::ceil(std::log2(seen))));
    }
    most_flops_ = std::max(most_flops_, mark.rate() * 1.5);
  }
  double lowest = most_flops_ / 1000;
  if (!roofline_.slopes.empty())
    lowest = roofline_.slopes.back().bytes_per_second * least_intensity_ * 2;
  for (const Mark& mark : marks_)
    if (is_worth_seeing(mark)) lowest = std::min(lowest, mark.rate());
  least_flops_ = std::pow(10, std::floor(std::log10(lowest)));
}

bool Drawing::has_place(const Mark& mark) const {
  return mark.intensity() >= least_intensity_ && mark.intensity() <= most_intensity_ &&
         mark.rate() >= least_flops_ && mark.rate() <= most_flops_;
}

double Drawing::x(double intensity) const {
  const double share =
      std::log(intensity / least_intensity_) / std::log(most_intensity_ / least_intensity_);
  return kLeft + share * (size_.width - kLeft - kRight);
}

double Drawing::y(double flops) const {
  const double share = std::log(flops / least_flops_) / std::log(most_flops_ / least_flops_);
  return size_.height - kBottom - share * (size_.height - kTop - kBottom);
}

void Drawing::text(double at_x, double at_y, std::string_view what, std::string_view more) {
  out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", at_x, at_y, more,
                      xml_text(what));
}

void Drawing::grid() {
  const double bottom = size_.height - kBottom;
  out_ += "<g stroke=\"#e4e4e4\">\n";
  for (double at = least_intensity_; at <= most_intensity_ * 1.001; at *= 2)
    out_ += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n",
                        x(at), kTop, bottom);
  for (double at = least_flops_; at <= most_flops_; at *= 10)
    out_ += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\"/>\n",
                        kLeft, y(at), size_.width - kRight);
  out_ += "</g>\n";
  for (double at = least_intensity_; at <= most_intensity_ * 1.001; at *= 2)
    text(x(at), bottom + 18, at < 1 ? fmt::format("1/{:.0f}", 1 / at) : fmt::format("{:.0f}", at),
         "text-anchor=\"middle\" fill=\"#444\"");
  for (double at = least_flops_; at <= most_flops_; at *= 10)
    text(kLeft - 8, y(at) + 4, with_si_prefix(at, ""), "text-anchor=\"end\" fill=\"#444\"");
  text((kLeft + size_.width - kRight) / 2, size_.height - 16,
       fmt::format("{} intensity, {} per byte {}",
                   roofline_.is_of_memory()                   ? "operational"
                   : roofline_.work == RoofKind::instructions ? "instruction"
                                                              : "arithmetic",
                   ops(),
                   roofline_.is_of_memory() ? "that memory moves"
                   : has_levels()           ? "at each level"
                                            : "loaded or stored"),
       "text-anchor=\"middle\"");
  out_ += fmt::format(
      "<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}/s</text>\n",
      (kTop + bottom) / 2, ops());
}

void Drawing::slopes() {
  if (roofline_.ceilings.empty()) return;
  const double top = roofline_.ceilings.front().flops_per_second;
  for (std::size_t i = 0; i < roofline_.slopes.size(); ++i) {
    const model::Slope& slope = roofline_.slopes[i];
    const std::string_view colour = kSlopeColours[i % kSlopeColours.size()];
    const double start = std::max(least_intensity_, least_flops_ / slope.bytes_per_second);
    const double end = top / slope.bytes_per_second;
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"2\"{}/>\n",
        x(start), y(slope.bytes_per_second * start), x(end), y(top), colour,
        slope.verdict == model::Verdict::noisy ? " stroke-dasharray=\"7 4\"" : "");
    // The words stand along their line: above it, or below where the one before is too near.
    const double angle = std::atan2(
        y(slope.bytes_per_second * end) - y(slope.bytes_per_second * start), x(end) - x(start));
    const double at = start * std::pow(end / start, 0.05);
    const bool crowded =
        i > 0 &&
        y(slope.bytes_per_second) - y(roofline_.slopes[i - 1].bytes_per_second) < 2.2 * kLineHeight;
    out_ += fmt::format(
        "<text transform=\"translate({:.1f} {:.1f}) rotate({:.2f})\" dy=\"{}\" fill=\"{}\" "
        "{}>{}</text>\n",
        x(at), y(slope.bytes_per_second * at), angle * 180 / 3.14159265358979, crowded ? 14 : -5,
        colour, kHalo, xml_text(slope.name + " " + with_si_prefix(slope.bytes_per_second, "B/s")));
  }
}

// Lines of nearly the same height share a row of words less: those that would overlap are moved up
// to the next free place, with the line itself where it belongs.
void Drawing::ceilings() {
  if (roofline_.slopes.empty()) return;
  const double steepest = roofline_.slopes.front().bytes_per_second;
  double last_y = -1e9;
  for (const model::Ceiling& ceiling : roofline_.ceilings) {
    const double at = y(ceiling.flops_per_second);
    const bool top = &ceiling == &roofline_.ceilings.front();
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"{}\"{}/>\n",
        x(ceiling.flops_per_second / steepest), at, size_.width - kRight, at, top ? "#111" : "#888",
        top ? "2" : "1",
        ceiling.verdict == model::Verdict::noisy ? " stroke-dasharray=\"7 4\"" : "");
  }
  // Behind all lines: none goes through the words of another.
  for (const model::Ceiling& ceiling : roofline_.ceilings) {
    const bool top = &ceiling == &roofline_.ceilings.front();
    const double at = y(ceiling.flops_per_second);
    const double words = std::max(at - 4, last_y + kLineHeight);
    last_y = words;
    const std::string name =
        ceiling.name + " " + with_si_prefix(ceiling.flops_per_second, unit_ + "/s");
    const double right = size_.width - kRight - 4;
    text(right, words, name,
         fmt::format("text-anchor=\"end\" {} {}", top ? "font-weight=\"bold\"" : "fill=\"#555\"",
                     kHalo));
    taken_.push_back({right - text_width(name), words - 11, right, words + 3});
  }
}

// Beside the point, on the side and at the height that has room; right of it where none has.
void Drawing::label(double at_x, double at_y, double radius, const std::string& name) {
  const double width = text_width(name);
  const double right = at_x + radius + 4;
  const double left = at_x - radius - 4 - width;
  const auto box_at = [&](double start, double lower) {
    const double middle = at_y + lower * kLineHeight;
    return Box{start, middle - 8, start + width, middle + 6};
  };
  const auto has_room = [&](const Box& box) {
    const bool is_inside = box.left > kLeft && box.right < size_.width - kRight && box.top > kTop &&
                           box.bottom < size_.height - kBottom;
    return is_inside && std::ranges::none_of(taken_, [&](const Box& at) { return box.meets(at); });
  };
  Box chosen = box_at(right, 0);
  for (const double lower : {3.0, -3.0, 2.0, -2.0, 1.0, -1.0, 0.0})  // the last one is the best
    for (const double start : {left, right})
      if (const Box box = box_at(start, lower); has_room(box)) chosen = box;
  taken_.push_back(chosen);
  text(chosen.left, chosen.bottom - 2, name, fmt::format("fill=\"#222\" {}", kHalo));
}

// One diamond per level in the colour of its roof, joined by a line: the same rate, other bytes.
void Drawing::levels(const Mark& mark) {
  const auto seen = [&](double intensity) { return std::min(intensity, most_intensity_); };
  const auto all = mark.intensities();
  const double at_y = y(mark.rate());
  if (mark.point.levels.empty()) return;
  out_ += fmt::format(
      "<line class=\"levels\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
      "stroke=\"#666\" stroke-width=\"1.5\"/>\n",
      x(seen(std::ranges::min(all))), at_y, x(seen(std::ranges::max(all))), at_y);
  taken_.push_back(
      {x(seen(std::ranges::min(all))), at_y - 1, x(seen(std::ranges::max(all))), at_y + 1});
  for (const model::LevelPoint& level : mark.point.levels) {
    if (!level.intensity || level.level == "L1") continue;  // that of the core is the circle
    const double at_x = x(seen(*level.intensity));
    out_ += fmt::format(
        "<path d=\"M{0:.1f} {1:.1f}l6 6l-6 6l-6 -6z\" fill=\"{2}\" stroke=\"#222\" "
        "stroke-dasharray=\"3 2\"><title>{3}</title></path>\n",
        at_x, at_y - 6, colour_of(level.level),
        xml_text(fmt::format(
            "{} at {}: ~{:.3g} {}/B{}", mark.name, level.level, *level.intensity, unit_,
            level.share ? fmt::format(", ~{:.0f} % of its bandwidth", *level.share * 100) : "")));
    taken_.push_back({at_x - 6, at_y - 6, at_x + 6, at_y + 6});
  }
}

// Area by share of time, so that what takes longest is seen first. A dashed ring is an estimate.
void Drawing::points() {
  const auto radius_of = [](const Mark& mark) {
    return 4 + 10 * std::sqrt(std::clamp(mark.share_of_time(), 0.0, 1.0));
  };
  for (const Mark& mark : marks_) {
    if (!has_place(mark)) continue;
    levels(mark);
    const double radius = radius_of(mark);
    const double at_x = x(mark.intensity());
    const double at_y = y(mark.rate());
    out_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" fill-opacity=\"0.75\" "
        "stroke=\"{}><title>{}</title></circle>\n",
        at_x, at_y, radius, kSeriesColours[mark.series % kSeriesColours.size()],
        mark.is_estimated() ? "#222\" stroke-dasharray=\"3 2\"" : "#fff\"",
        xml_text(fmt::format("{}: {}{}, {:.3g} {}/B", mark.name, mark.is_estimated() ? "~" : "",
                             with_si_prefix(mark.rate(), unit_ + "/s"), mark.intensity(), unit_)));
    taken_.push_back({at_x - radius, at_y - radius, at_x + radius, at_y + radius});
  }
  for (const Mark& mark : marks_)
    if (has_place(mark))
      label(x(mark.intensity()), y(mark.rate()), radius_of(mark),
            short_name(printable(mark.name), kLongestName));
}

void Drawing::title() {
  text(kLeft, 26, roofline_.machine.empty() ? "roofline" : roofline_.machine,
       "font-size=\"17\" font-weight=\"bold\"");
  text(kLeft, 45,
       fmt::format(
           "{}, {}; dashed roofs: noisy{}",
           roofline_.work == RoofKind::instructions ? "instructions of all kinds"
           : roofline_.work == RoofKind::integer    ? "integers of 64 bits"
           : roofline_.precision == "sp"            ? "single precision"
                                                    : "double precision",
           roofline_.threads == 1 ? "1 thread" : fmt::format("{} threads", roofline_.threads),
           std::ranges::any_of(marks_, &Mark::is_estimated)
               ? "; dashed rings: by sampled or modelled time"
               : ""),
       "fill=\"#555\"");
}

std::string Drawing::draw() {
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"12\" role=\"img\">\n"
      "<title>roofline of {2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      size_.width, size_.height, xml_text(roofline_.machine));
  title();
  grid();
  slopes();
  ceilings();
  points();
  return out_ + "</svg>\n";
}

}  // namespace

std::string roofline_svg(const model::Roofline& roofline, std::span<const PointSeries> series,
                         DrawingSize size) {
  return Drawing(roofline, series, size).draw();
}

}  // namespace loft::view
