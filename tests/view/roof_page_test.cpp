// The report page of a roofline.
#include "view/roof.hpp"

#include <gmock/gmock.h>

#include "view/unpack_page.hpp"

namespace loft::view {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RoofPage, ShowsPowerOverTimeAndWhatTheEnergyWas) {
  RoofReport report;
  report.command = {"app"};
  report.wall_seconds = 0.5;
  report.energy = {{"package-0", 7, {{0.2, 2}, {0.4, 4}, {0.5, 6.5}, {0.5, 6.5}, {0.51, 7}}}};
  const auto html = roof_html({&report, 1});
  ASSERT_TRUE(html);
  const auto page = unpack_page(*html);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->head["time_lines"].size(), 1u);
  const auto& line = page->head["time_lines"][0];
  EXPECT_EQ(line["unit"], "W");
  EXPECT_EQ(line["name"], "power, package-0");
  EXPECT_THAT(page->column<double>(line["start_s"]), ElementsAre(0, 0.2));
  EXPECT_THAT(page->column<double>(line["end_s"]), ElementsAre(0.2, 0.51));
  EXPECT_THAT(page->column<double>(line["value"]), ElementsAre(DoubleEq(10), DoubleEq(5 / 0.31)));
  EXPECT_THAT(page->head["facts"].dump(), testing::HasSubstr("14.0 W"));
  EXPECT_EQ(page->head["warnings"].size(), 0u) << "power is measured: nothing is modelled";
}

TEST(RoofPage, EnergyOfAMeterThatShowsWattsIsMarked) {
  RoofReport report;
  report.command = {"app"};
  report.wall_seconds = 0.5;
  report.energy = {{"package-0", 7, {{0.5, 7}}, false, sample::Origin::counted},
                   {"acpi power1", 8, {{0.5, 8}}, false, sample::Origin::modelled}};
  const auto html = roof_html({&report, 1});
  ASSERT_TRUE(html);
  const auto page = unpack_page(*html);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->head["time_lines"].size(), 2u);
  EXPECT_NE(page->head["time_lines"][0]["origin"], page->head["time_lines"][1]["origin"]);
  EXPECT_THAT(page->head["facts"].dump(), HasSubstr("~8.00 J, ~16.0 W, added up from readings"));
  const std::string text = roof_text({&report, 1});
  EXPECT_THAT(text, HasSubstr("energy: 7.00 J, 14.0 W   (package-0, whole machine)"));
  EXPECT_THAT(text, HasSubstr("energy: ~8.00 J, ~16.0 W   (acpi power1, whole machine; added up"));
  const std::string json = roof_json({&report, 1});
  EXPECT_THAT(json, HasSubstr("\"kind\": \"counted\""));
  EXPECT_THAT(json, HasSubstr("\"kind\": \"modelled\""));
}

TEST(RoofPage, EnergyOfFunctionsIsModelledWhateverTheMeterIs) {
  RoofReport report;
  report.command = {"app"};
  report.wall_seconds = 0.5;
  report.energy = {{"GPU 0", 90, {{0.5, 90}}, true, sample::Origin::counted},
                   {"package-0", 7, {{0.5, 7}}, false, sample::Origin::counted}};
  report.function_energy = {{"solve", "/bin/app", {0, 6}}, {"print", "/bin/app", {0, 0.01}}};
  EXPECT_THAT(roof_text({&report, 1}),
              HasSubstr("of it by samples: ~6.00 J solve   (package-0; modelled"));
  const auto json = nlohmann::json::parse(roof_json({&report, 1}));
  ASSERT_EQ(json["energy_of_functions"].size(), 2u) << json;
  EXPECT_EQ(json["energy_of_functions"][0]["kind"], "modelled");
  EXPECT_EQ(json["energy_of_functions"][0]["joules"], (nlohmann::json{{"package-0", 6.0}}));
}

TEST(RoofPage, SeveralRunsSayWhereTheirTimeBeginsAndHaveNoCommandOfOneOfThem) {
  std::vector<RoofReport> runs(2);
  runs[0].label = "before";
  runs[0].command = {"app"};
  runs[0].thread_names = {{7, "app"}};
  runs[1].label = "after";
  runs[1].command = {"app", "--fast"};
  runs[1].thread_names = {{7, "other"}, {8, "app"}};
  for (RoofReport& run : runs) {
    run.wall_seconds = 0.5;
    run.energy = {{"package-0", 7, {{0.5, 7}}}};
  }
  const auto html = roof_html(runs);
  ASSERT_TRUE(html);
  const auto page = unpack_page(*html);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->head["title"], "before, after");
  EXPECT_EQ(page->head["command"], "");
  EXPECT_THAT(page->head["warnings"].dump(), HasSubstr("time is since the start of each run"));
  EXPECT_EQ(page->head["threads"].size(), 2u);
}

TEST(RoofPage, ARunOnMoreThreadsHasRoofsOfItsOwn) {
  std::vector<RoofReport> runs(3);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].label = "run " + std::to_string(i);
    runs[i].wall_seconds = 1;
    model::Roofline& roofs = runs[i].chart.roofline;
    roofs.threads = i == 2 ? 2 : 1;
    roofs.slopes = {{"L1", "L1 bandwidth", 1e11 * roofs.threads, {}}};
    roofs.ceilings = {{"avx2", "fma", "FMA, 256 bit", 5e10 * roofs.threads, {}}};
  }
  const auto html = roof_html(runs);
  ASSERT_TRUE(html);
  const auto page = unpack_page(*html);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->head["rooflines"].size(), 2u);
  EXPECT_EQ(page->head["rooflines"][0]["threads"], 1);
  EXPECT_THAT(roof_svg(runs), HasSubstr("2 threads"));
}

// Whose bytes are a model has no exact intensity; one whose time was sampled may have.
TEST(RoofText, AnIntensityIsMarkedByTheWorkAlone) {
  RoofReport report;
  report.command = {"app"};
  report.wall_seconds = 1;
  for (const auto origin : {sample::Origin::counted, sample::Origin::modelled}) {
    model::RoofPoint point;
    point.subject.origin = sample::Origin::modelled;
    point.subject.work_origin = origin;
    point.subject.work = model::Work{.flops_dp = 1e9, .bytes = 8e9};
    point.subject.seconds = 1;
    point.flops_per_second = point.ops_per_second = 1e9;
    point.intensity = 0.125;
    report.chart.points.push_back(point);
  }
  const std::string text = roof_text({&report, 1});
  EXPECT_THAT(text, HasSubstr(" ~1.00     0.125 "));
  EXPECT_THAT(text, HasSubstr(" ~1.00    ~0.125 "));
}

TEST(RoofPage, EveryFormSaysThatInstructionsAreCounted) {
  RoofReport report;
  report.command = {"gzip"};
  report.wall_seconds = 2;
  report.chart.roofline.work = model::RoofKind::instructions;
  report.chart.roofline.slopes = {{"L1", "L1 bandwidth", 200e9}};
  report.chart.roofline.ceilings = {{"scalar", "mixed", "instruction issue", 20e9}};
  model::RoofPoint point;
  point.subject.work = model::Work{.bytes = 3e9, .instructions = 12e9};
  point.subject.seconds = 2;
  point.intensity = 4;
  point.ops_per_second = 6e9;
  point.flops_per_second = 0;
  point.limit = model::Limit{"instruction issue", 20e9, 0.3};
  report.chart.points = {point};
  const std::string text = roof_text({&report, 1});
  EXPECT_THAT(text, HasSubstr("Ginstr/s   instr/B"));
  EXPECT_THAT(text, HasSubstr("6.00      4.00   below instruction issue"));
  const auto json = nlohmann::json::parse(roof_json({&report, 1}));
  EXPECT_EQ(json["ops"], "instructions");
  EXPECT_EQ(json["points"][0]["ops"], "instructions");
  EXPECT_EQ(json["points"][0]["gops"], 6.0);
  EXPECT_EQ(json["points"][0]["gflops"], 0.0);
  EXPECT_THAT(roof_csv({&report, 1}), HasSubstr(",instructions,6,,,\n"));
  const std::string svg = roof_svg({&report, 1});
  EXPECT_THAT(svg, HasSubstr("instruction intensity, instructions per byte loaded or stored"));
  EXPECT_THAT(svg, HasSubstr(">instructions/s<"));
  EXPECT_THAT(svg, HasSubstr("whole run: 6.00 Ginstr/s, 4 instr/B"));
  EXPECT_THAT(svg, testing::Not(HasSubstr("FLOP")));
  const auto page = unpack_page(roof_html({&report, 1}).value());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->head["rooflines"][0]["unit"], "instr");
  EXPECT_THAT(page->head["figures"].dump(), HasSubstr("6.00 Ginstr/s"));
}

}  // namespace
}  // namespace loft::view
