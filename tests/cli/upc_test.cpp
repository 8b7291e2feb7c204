#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_loft.hpp"

namespace loft {
namespace {

using testing::HasSubstr;

class Upc : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    write("c", "counters 8\nlow-bits 7\nselect 3 high as hits threshold 100\nselect 4 as edges\n");
    write("s", "hold 150 3\nflip edges 1\nhold 300\n");
  }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(replace_file(folder_ + "/" + name, text));
  }
  Said run(const std::string& more = {}) {
    return run_loft("upc " + folder_ + "/c " + folder_ + "/s " + more);
  }

  std::string folder_ = "/tmp/loft-upc-XXXXXX";
};

TEST_F(Upc, TextTellsCountsInterruptsAndUpsets) {
  const Said said = run("--every 200");
  EXPECT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.out, HasSubstr("8 counters of 7 + 52 bits, 32 events; every word is visited "
                                  "once in 128 cycles\nplayed 450 cycles\n"));
  EXPECT_THAT(said.out, HasSubstr("interrupt in cycle 100: hits came to 100\n"));
  EXPECT_THAT(said.out, HasSubstr("the memory word of counter 4 was upset"));
  EXPECT_THAT(said.out, HasSubstr("           450             150           upset\n"));
}

TEST_F(Upc, JsonAndCsvTellTheSame) {
  const auto json = nlohmann::json::parse(run("--format json").out);
  EXPECT_EQ(json["schema"], "loft.upc/1");
  EXPECT_EQ(json["cycles"], 450);
  EXPECT_EQ(json["counters"][0]["value"], 150);
  EXPECT_EQ(json["counters"][1]["value"], nullptr);
  EXPECT_EQ(json["counters"][1]["kind"], "missing");
  EXPECT_EQ(json["interrupts"][0]["cycle"], 100);
  EXPECT_EQ(json["parity_errors"][0]["counter"], 4);
  const std::string csv = run("--format csv").out;
  EXPECT_THAT(csv, HasSubstr("kind,cycle,name,counter,count\ncount,450,hits,3,150\n"
                             "count,450,edges,4,\ninterrupt,100,hits,3,100\nparity error,"));
}

TEST_F(Upc, ErrorsNameFileAndLine) {
  write("s", "hold 5\nhold 5 nobody\n");
  const Said said = run();
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("/s:2: 'nobody' is no event line"));
  EXPECT_EQ(said.out, "");
  write("s", "hold 2000\n");
  EXPECT_THAT(run("--limit 1000").notes, HasSubstr("allow more with --limit"));
}

}  // namespace
}  // namespace loft
