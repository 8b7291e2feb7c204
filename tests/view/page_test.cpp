// The report page as bytes; tests/page opens it in a browser.
#include "view/page.hpp"

#include <gtest/gtest.h>

#include "view/page_template.hpp"
#include "view/unpack_page.hpp"

namespace loft::view {
namespace {

using testing::ElementsAre;

model::RoofPoint point_named(const std::string& name) {
  model::RoofPoint point;
  point.subject.scope = model::Scope::function;
  point.subject.name = name;
  return point;
}

UnpackedPage written(const PageData& page) {
  const auto html = page_html(page);
  EXPECT_TRUE(html);
  auto unpacked = html ? unpack_page(*html) : std::nullopt;
  EXPECT_TRUE(unpacked);
  return unpacked.value_or(UnpackedPage{});
}

TEST(Page, CarriesEveryNumberOfAColumn) {
  PageData page;
  model::RoofPoint slice = point_named("a");
  slice.subject.scope = model::Scope::slice;
  slice.subject.start = 1.0 / 3;
  slice.intensity = 0.125;
  slice.ops_per_second = 3e9;
  page.points.add(slice);
  slice.subject.name = "b";
  slice.subject.start = 2.0 / 3;
  slice.intensity = 0.25;
  slice.ops_per_second = 4e9;
  page.points.add(slice);
  const auto unpacked = written(page);
  const auto& points = unpacked.head["points"];
  EXPECT_THAT(unpacked.column<float>(points["intensity"]), ElementsAre(0.125f, 0.25f));
  EXPECT_THAT(unpacked.column<float>(points["flops_per_second"]), ElementsAre(3e9f, 4e9f));
  EXPECT_THAT(unpacked.column<double>(points["start_s"]), ElementsAre(1.0 / 3, 2.0 / 3));
  EXPECT_THAT(unpacked.column<std::uint32_t>(points["name"]), ElementsAre(1u, 2u));
  EXPECT_EQ(points["texts"], (nlohmann::json{"", "a", "b"}));
}

TEST(Page, AColumnOfOneValueIsThatValue) {
  PageData page;
  model::RoofPoint point = point_named("same");
  point.intensity = 0.5;
  for (int i = 0; i < 1000; ++i) {
    point.ops_per_second = i;
    page.points.add(point);
  }
  const auto unpacked = written(page);
  EXPECT_EQ(unpacked.head["points"]["intensity"],
            (nlohmann::json{{"type", "f32"}, {"length", 1000}, {"all", 0.5}}));
  EXPECT_EQ(unpacked.columns.size(), 1000 * sizeof(float));
}

TEST(Page, WhatIsNotKnownIsNoNumber) {
  PageData page;
  page.points.add(point_named("a"));
  page.tables = {{"Functions", {{.name = "flops", .numbers = {kNotKnown, 2}}}}};
  const auto unpacked = written(page);
  for (const char* name : {"intensity", "flops_per_second", "seconds", "share", "start_s"})
    EXPECT_TRUE(unpacked.head["points"][name]["all"].is_null()) << name;
  const auto numbers = unpacked.column<double>(unpacked.head["tables"][0]["columns"][0]["numbers"]);
  EXPECT_TRUE(std::isnan(numbers[0]));
  EXPECT_EQ(numbers[1], 2);
}

TEST(Page, InfinityIsNotTakenForUnknown) {
  PageData page;
  page.tables = {{"T", {{.name = "x", .numbers = {INFINITY, INFINITY}}}}};
  const auto unpacked = written(page);
  EXPECT_THAT(unpacked.column<double>(unpacked.head["tables"][0]["columns"][0]["numbers"]),
              ElementsAre(INFINITY, INFINITY));
}

TEST(Page, HoldsNoNameOutsideItsPackedData) {
  PageData page;
  page.title = page.command = "</script><img src=x onerror=alert(1)>";
  page.points.add(point_named(page.title));
  const auto html = page_html(page);
  ASSERT_TRUE(html);
  EXPECT_EQ(html->find("<img"), std::string::npos);
  EXPECT_EQ(html->find("alert(1)"), std::string::npos);
  EXPECT_EQ(written(page).head["title"], page.title);
}

TEST(Page, WritesNamesThatAreNotUtf8) {
  PageData page;
  page.title = "\xff\x1b[31m";
  EXPECT_EQ(written(page).head["title"], "\\xff\\x1b[31m");
}

TEST(Page, TheTemplateHasOnePlaceForData) {
  const auto whole = page_template();
  EXPECT_TRUE(whole.starts_with("<!doctype html>"));
  EXPECT_NE(whole.find(kPageDataPlace), std::string_view::npos);
  EXPECT_EQ(whole.find(kPageDataPlace), whole.rfind(kPageDataPlace));
}

TEST(Page, RefusesColumnsOfDifferentLengths) {
  PageData lines;
  lines.time_lines = {{.name = "power", .start_s = {0, 1}, .end_s = {1, 2}, .value = {3}}};
  const auto refused = page_html(lines);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().why.find("power"), std::string::npos);
  PageData table;
  table.tables = {{"T", {{.name = "a", .numbers = {1, 2}}, {.name = "b", .numbers = {1}}}}};
  EXPECT_FALSE(page_html(table));
}

TEST(Page, RefusesARunThatDoesNotExist) {
  PageData page;
  page.runs = {"before", "after"};
  page.points.add(point_named("a"), 1);
  EXPECT_TRUE(page_html(page));
  page.points.add(point_named("b"), 2);
  EXPECT_FALSE(page_html(page));
}

TEST(Page, RefusesAFrameBeforeItsCaller) {
  PageData page;
  page.flames.emplace_back().add(0, "all", 0, 2);
  page.flames[0].add(0, "main", 1, 2);
  EXPECT_TRUE(page_html(page));
  page.flames[0].parent[1] = 1;
  EXPECT_FALSE(page_html(page));
}

}  // namespace
}  // namespace loft::view
