#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_loft.hpp"

namespace loft {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A user with files of her own.
class OwnNames : public testing::Test {
 protected:
  void SetUp() override {
    home_ = testing::TempDir() + "loft-own-XXXXXX";
    ASSERT_NE(::mkdtemp(home_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(home_); }

  Said loft(const std::string& arguments) { return run_loft(arguments, home_); }
  [[nodiscard]] std::string file() const { return home_ + "/config/loft/events.conf"; }

  std::string home_;
};

TEST_F(OwnNames, AnEventCanBeNamedListedCountedAndForgotten) {
  EXPECT_EQ(loft("event add my_faults page-faults --description 'pages touched first'").status, 0);
  EXPECT_THAT(loft("event list").out, HasSubstr("my_faults\tpage-faults\tpages touched first"));
  const Said said = loft("stat --format json -e my_faults -- true");
  const json result = json::parse(said.notes, nullptr, false);
  ASSERT_FALSE(result.is_discarded()) << said.notes;
  EXPECT_GT(result["events"][0]["value"], 0);
  EXPECT_EQ(loft("event remove my_faults").status, 0);
  EXPECT_EQ(loft("event list").out, "");
  EXPECT_EQ(loft("stat -e my_faults -- true").status, 125);
}

TEST_F(OwnNames, ASetStandsWhereverEventsStand) {
  EXPECT_EQ(loft("evset add memory page-faults,minor-faults major-faults").status, 0);
  const json listed = json::parse(loft("evset list --format json").out, nullptr, false);
  EXPECT_EQ(listed["schema"], "loft.evset/1");
  EXPECT_EQ(listed["sets"][0]["name"], "memory");
  const json result =
      json::parse(loft("stat --format json -e task-clock,memory -- true").notes, nullptr, false);
  EXPECT_EQ(result["events"].size(), 4u);
}

TEST_F(OwnNames, ANameIsNotTakenTwiceUnlessAskedFor) {
  EXPECT_EQ(loft("event add mine page-faults").status, 0);
  const Said again = loft("event add mine minor-faults");
  EXPECT_EQ(again.status, 125);
  EXPECT_THAT(again.notes, HasSubstr("mine"));
  EXPECT_THAT(loft("event list").out, HasSubstr("page-faults"));
  EXPECT_EQ(loft("event add --replace mine minor-faults").status, 0);
  EXPECT_THAT(loft("event list").out, HasSubstr("minor-faults"));
}

TEST_F(OwnNames, WhatCannotBeCountedIsRefusedUnlessAskedFor) {
  const Said said = loft("event add mine no-such-event");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("no-such-event"));
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_EQ(loft("event add --unchecked mine cpu/event=0x2e/").status, 0);
}

TEST_F(OwnNames, AMalformedFileIsNamedWithLineAndColumnAndNeverOverwritten) {
  std::filesystem::create_directories(home_ + "/config/loft");
  const std::string text = "# mine\nevent a = page-faults\nset b cycles\n";
  std::ofstream(file()) << text;
  const Said said = loft("event add c minor-faults");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("events.conf': line 3, column"));
  EXPECT_EQ(read_file(file()).value_or(""), text);
}

TEST_F(OwnNames, PeopleWhoAddAtTheSameTimeLoseNothing) {
  constexpr int kPeople = 12;
  std::vector<std::thread> people;
  for (int i = 0; i < kPeople; ++i)
    people.emplace_back([this, i] { loft("event add mine" + std::to_string(i) + " page-faults"); });
  for (std::thread& person : people) person.join();
  const json listed = json::parse(loft("event list --format json").out, nullptr, false);
  EXPECT_EQ(listed["events"].size(), static_cast<std::size_t>(kPeople));
}

}  // namespace
}  // namespace loft
