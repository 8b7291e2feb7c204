// Where things stand in the drawing of a roofline, and what is written beside them.
#include "view/roofline_svg.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "view/machine.hpp"

namespace loft::view {
namespace {

using model::RoofPoint;
using ::testing::HasSubstr;
using ::testing::Not;

// The ridge is at 64/256 = 1/4. So the drawing goes from five octaves below it, 1/128, to two above
// that of the flattest slope, 8; and from 0.1 GFLOP/s, the decade below DRAM at 1/64, to 2.2 times
// the peak.
model::Roofline roofs() {
  model::Roofline roofline;
  roofline.machine = "Some <CPU> & more";
  roofline.slopes = {{"L1", "L1 bandwidth", 256e9}, {"DRAM", "DRAM bandwidth", 32e9}};
  roofline.ceilings = {{"avx2", "fma", "FMA, 256 bit", 64e9}, {"scalar", "add", "ADD", 8e9}};
  return roofline;
}

RoofPoint function(const std::string& name, double intensity, double rate, double share = 0.25) {
  RoofPoint point;
  point.subject.scope = model::Scope::function;
  point.subject.name = name;
  point.subject.share_of_time = share;
  point.intensity = intensity;
  point.ops_per_second = rate;
  return point;
}

std::string drawn(const std::vector<RoofPoint>& points, const std::string& label = {}) {
  PointSeries series{label, {}};
  for (const RoofPoint& point : points) series.points.push_back(&point);
  return roofline_svg(roofs(), std::span(&series, 1));
}

TEST(RooflineSvg, DrawsEveryRoofAndEscapesNames) {
  const std::string svg = drawn({function("</svg><script>alert(1)</script>", 0.5, 10e9)});
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("Some &lt;CPU&gt; &amp; more"));
  for (const char* roof : {"L1 bandwidth 256 GB/s", "DRAM bandwidth 32.0 GB/s",
                           "FMA, 256 bit 64.0 GFLOP/s", "ADD 8.00 GFLOP/s"})
    EXPECT_THAT(svg, HasSubstr(roof));
  EXPECT_THAT(svg, HasSubstr("<circle"));
  EXPECT_THAT(roofline_svg(roofs()), Not(HasSubstr("<circle")));
}

TEST(RooflineSvg, BothAxesAreLogarithmic) {
  // Five of ten octaves, and half of the way from 1e8 to 1408 times that.
  const std::string svg = drawn({function("triad", 0.25, 1e8 * std::sqrt(1408))});
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"506.0\" cy=\"318.0\" r=\"9.0\"")) << "4 + 10 sqrt(1/4)";
}

TEST(RooflineSvg, TheAxesHaveALineForEachOctaveAndDecade) {
  const std::string svg = roofline_svg(roofs());
  for (const char* octave : {">1/128<", ">1/64<", ">1/2<", ">1<", ">8<"})
    EXPECT_THAT(svg, HasSubstr(octave));
  EXPECT_THAT(svg, Not(HasSubstr(">16<")));
  for (const char* decade : {">100 M<", ">1.00 G<", ">10.0 G<", ">100 G<"})
    EXPECT_THAT(svg, HasSubstr(decade));
  EXPECT_THAT(svg, HasSubstr("x=\"76.0\" y=\"598.0\" text-anchor=\"middle\" fill=\"#444\">1/128"));
}

TEST(RooflineSvg, ASlopeEndsWhereItMeetsTheHighestCeiling) {
  // L1 meets it at the ridge, in the middle; DRAM at 2, eight octaves from the left edge.
  const std::string svg = roofline_svg(roofs());
  const double top = 580 - 524 * std::log(640.0) / std::log(1408.0);
  EXPECT_THAT(svg, HasSubstr(fmt::format("x2=\"506.0\" y2=\"{:.1f}\"", top)));
  EXPECT_THAT(svg, HasSubstr(fmt::format("x2=\"764.0\" y2=\"{:.1f}\"", top)));
}

TEST(RooflineSvg, NoisyRoofsAreDashed) {
  model::Roofline roofline = roofs();
  EXPECT_THAT(roofline_svg(roofline), Not(HasSubstr("stroke-dasharray")));
  roofline.slopes[1].verdict = model::Verdict::noisy;
  EXPECT_THAT(roofline_svg(roofline), HasSubstr("stroke-dasharray"));
}

TEST(RooflineSvg, EstimatesAreMarked) {
  RoofPoint point = function("triad", 0.5, 10e9);
  EXPECT_THAT(drawn({point}), Not(HasSubstr("~10.0 GFLOP/s")));
  point.subject.origin = sample::Origin::modelled;
  EXPECT_THAT(drawn({point}), HasSubstr("triad: ~10.0 GFLOP/s, 0.5 FLOP/B"));
  EXPECT_THAT(drawn({point}), HasSubstr("dashed rings"));
}

TEST(RooflineSvg, TheWholeRunHasNoNameOfItsOwnAndARunItsLabel) {
  RoofPoint whole = function("./app", 0.5, 10e9);
  whole.subject.scope = model::Scope::run;
  EXPECT_THAT(drawn({whole}), HasSubstr("<title>whole run: 10.0 GFLOP/s"));
  EXPECT_THAT(drawn({whole}, "before"), HasSubstr("<title>before: whole run: 10.0 GFLOP/s"));
}

TEST(RooflineSvg, RunsHaveColoursOfTheirOwn) {
  const RoofPoint point = function("triad", 0.5, 10e9);
  const PointSeries runs[] = {{"a", {&point}}, {"b", {&point}}};
  const std::string svg = roofline_svg(roofs(), runs);
  EXPECT_THAT(svg, HasSubstr("fill=\"#CC3311\""));
  EXPECT_THAT(svg, HasSubstr("fill=\"#0077BB\""));
}

TEST(RooflineSvg, PointsThatAreNotWhollyKnownAreLeftOut) {
  RoofPoint no_bytes = function("no bytes", 0.5, 10e9);
  no_bytes.intensity.reset();
  RoofPoint no_time = function("no time", 0.5, 10e9);
  no_time.ops_per_second.reset();
  EXPECT_EQ(drawn({no_bytes, no_time}), roofline_svg(roofs()));
}

// Where the words of a name start: its y.
std::string height_of(const std::string& svg, const std::string& name) {
  const auto end = svg.find(">" + name + "</text>");
  const auto start = svg.rfind("y=\"", end);
  return end == std::string::npos ? "" : svg.substr(start, svg.find('"', start + 3) - start);
}

TEST(RooflineSvg, NamesOfNeighboursDoNotCoverEachOther) {
  const std::string svg = drawn({function("one of them", 0.5, 10e9), function("another", 0.5, 10e9),
                                 function("the third", 0.5, 10.1e9)});
  EXPECT_NE(height_of(svg, "one of them"), "");
  EXPECT_NE(height_of(svg, "one of them"), height_of(svg, "the third"));
}

TEST(RooflineSvg, AHandfulOfOperationsDoesNotStretchTheDrawing) {
  const RoofPoint heavy = function("heavy", 0.5, 10e9, 0.9);
  EXPECT_EQ(drawn({heavy, function("hardly any", 1e-8, 100, 0.1)}), drawn({heavy}));
}

TEST(RooflineSvg, APointAboveTheRoofsStretchesTheDrawing) {
  EXPECT_THAT(drawn({function("above", 1, 500e9)}), HasSubstr("<title>above: 500 GFLOP/s"));
}

TEST(RooflineSvg, OfNothingIsStillADrawing) {
  const std::string svg = roofline_svg(model::Roofline());
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(MachineText, SaysUnavailableAndWhy) {
  model::Machine machine;
  machine.isas = {"avx2"};
  model::Roof fma;
  fma.isa = "avx2";
  fma.precision = "dp";
  fma.op = "fma";
  fma.verdict = model::Verdict::unavailable;
  fma.why = "this CPU has no fused multiply-add";
  machine.roofs = {fma};
  const std::string text = machine_text(machine);
  EXPECT_THAT(text, HasSubstr("unavailable: this CPU has no"));
  EXPECT_THAT(text, HasSubstr("clock not known measured"));
}

}  // namespace
}  // namespace loft::view
