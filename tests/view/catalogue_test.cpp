// What 'loft list' prints.
#include "view/catalogue.hpp"

#include <gtest/gtest.h>

namespace loft::view {
namespace {

using event::Catalogue;

Catalogue memory_controller() {
  Catalogue catalogue;
  catalogue.entries.resize(2);
  catalogue.entries[0] = {
      "uncore_imc/cas_count_read/", "sysfs", "Event of the PMU uncore_imc", "MiB", "uncore_imc",
      {"cas_count_read"},           {}};
  catalogue.entries[1] = {
      "uncore_imc/clockticks/", "sysfs", "Event of the PMU uncore_imc", "", "uncore_imc", {}, 0xFF};
  return catalogue;
}

TEST(Catalogue, LinesAreWhole) {
  EXPECT_EQ(catalogue_lines(memory_controller()),
            "uncore_imc/cas_count_read/\tsysfs\tEvent of the PMU uncore_imc [MiB] (also "
            "cas_count_read)\n"
            "uncore_imc/clockticks/\tsysfs\tEvent of the PMU uncore_imc\n");
}

TEST(Catalogue, ATableIsCutAtTheWidthOfTheTerminal) {
  EXPECT_EQ(catalogue_table(memory_controller(), 60),
            "sysfs\n"
            "  uncore_imc/cas_count_read/  Event of the PMU uncore_imc...\n"
            "  uncore_imc/clockticks/      Event of the PMU uncore_imc\n");
  EXPECT_EQ(catalogue_table(memory_controller(), 0),
            "sysfs\n"
            "  uncore_imc/cas_count_read/  Event of the PMU ...\n"
            "  uncore_imc/clockticks/      Event of the PMU ...\n")
      << "a description keeps 20 columns";
}

TEST(Catalogue, ATableHasAHeadForEachOrigin) {
  Catalogue catalogue = memory_controller();
  catalogue.entries[1].origin = "kernel";
  const std::string text = catalogue_table(catalogue, 200);
  EXPECT_EQ(text.find("sysfs\n"), 0u);
  EXPECT_NE(text.find("\n\nkernel\n  uncore_imc/clockticks/"), std::string::npos);
}

TEST(Catalogue, ADescriptionIsNotCutInsideACharacter) {
  Catalogue catalogue;
  catalogue.entries.push_back(
      {"n", "sysfs", std::string(31, 'x') + "\xC3\xA4yyyy", "", "", {}, {}});
  // Of 40 columns 35 are left, 32 of them before the dots: the letter would be cut in two.
  EXPECT_NE(catalogue_table(catalogue, 0).find(" " + std::string(31, 'x') + "...\n"),
            std::string::npos);
}

TEST(Catalogue, CsvAndJsonHaveEveryField) {
  EXPECT_EQ(catalogue_csv(memory_controller()),
            "name,origin,description,unit,pmu,aliases,config\n"
            "uncore_imc/cas_count_read/,sysfs,Event of the PMU uncore_imc,MiB,uncore_imc,"
            "cas_count_read,\n"
            "uncore_imc/clockticks/,sysfs,Event of the PMU uncore_imc,,uncore_imc,,0xff\n");
  EXPECT_EQ(catalogue_json({{memory_controller().entries[1]}, {}}),
            "{\n \"schema\": \"loft.list/1\",\n \"events\": [\n  {\n"
            "   \"name\": \"uncore_imc/clockticks/\",\n   \"origin\": \"sysfs\",\n"
            "   \"description\": \"Event of the PMU uncore_imc\",\n   \"pmu\": \"uncore_imc\",\n"
            "   \"config\": \"0xff\"\n"
            "  }\n ],\n \"notes\": []\n}\n");
}

TEST(Catalogue, NamesThatAreNotUtf8AreHarmless) {
  const Catalogue hostile{{{"a\xff\x1b[2J", "sysfs", "x\n\"y\",z", "", "", {}, {}}}, {}};
  for (const std::string& text : {catalogue_lines(hostile), catalogue_table(hostile, 80),
                                  catalogue_csv(hostile), catalogue_json(hostile)})
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

}  // namespace
}  // namespace loft::view
