#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/cpu_set.hpp"
#include "base/text.hpp"
#include "cli/run_loft.hpp"

namespace loft {
namespace {

using testing::HasSubstr;

TEST(Top, BatchGivesOneObjectForEachSampleOfAllCores) {
  const Said said = run_loft("top --batch -n 3 -i 20 --format json -e context-switches,IPC");
  ASSERT_EQ(said.status, 0) << said.notes;
  const auto lines = split(trim(said.out), '\n');
  ASSERT_EQ(lines.size(), 3u);
  double last = 0;
  for (const std::string_view line : lines) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_GT(json["time_s"], last);
    last = json["time_s"];
    EXPECT_EQ(json["cores"].size(), online_cpus()->size());
    for (const auto& core : json["cores"]) {
      // On a busy machine a reader may be late; then the core says so.
      if (core.contains("why")) continue;
      EXPECT_GT(core["end_s"], core["start_s"]);
      EXPECT_TRUE(core["values"].contains("context-switches"));
      EXPECT_TRUE(core["values"].contains("IPC"));
      // Where switches cannot be counted (no permission) the reason is given, and never 0.
      if (core["values"]["context-switches"].is_null()) {
        EXPECT_TRUE(core["missing"].contains("context-switches"));
      }
    }
    EXPECT_GT(json["cost"]["resident_bytes"], 0);
  }
}

TEST(Top, OneCoreAloneAndCsv) {
  const std::string cpu = std::to_string(online_cpus()->back());
  const Said said = run_loft("top --batch -n 2 -i 20 --format csv -C " + cpu);
  ASSERT_EQ(said.status, 0) << said.notes;
  EXPECT_THAT(said.out, testing::StartsWith("time_s,scope,part,name,value,unit,kind,count,why\n"));
  EXPECT_THAT(said.out, HasSubstr(",core," + cpu + ",busy,"));
  EXPECT_THAT(said.out, HasSubstr(",loft,,cpu_share,"));
}

TEST(Top, RefusesWhatIsNotThere) {
  EXPECT_THAT(run_loft("top --batch -n 1 -C 4000").notes, HasSubstr("cannot watch CPU 4000"));
  EXPECT_THAT(run_loft("top --batch -n 1 -e no-such-event").notes, HasSubstr("no-such-event"));
}

}  // namespace
}  // namespace loft
