// Regions of programs that run natively: visits and times, which the program adds up itself.
#ifdef LOFT_HAS_ENGINE  // the sample has code of x86-64
#include "source/region_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/child_process.hpp"

namespace loft::source {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using Path = std::vector<std::string>;

class NativeRegions : public testing::Test {
 protected:
  void run(const std::vector<std::string>& way) {
    auto file = RegionFile::create();
    ASSERT_TRUE(file);
    std::vector<std::string> command{std::string(LOFT_SAMPLES) + "/native_marks.cpp"};
    command.insert(command.end(), way.begin(), way.end());
    auto child = ChildProcess::prepare(command);
    ASSERT_TRUE(child);
    ASSERT_TRUE(child->start());
    const auto end = child->wait();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->shell_status(), 0);
    regions_ = file->regions({});
    notes_ = file->notes();
  }

  [[nodiscard]] const sample::RegionCounts& find(const Path& path) const {
    static const sample::RegionCounts none;
    for (const auto& region : regions_)
      if (region.path == path) return region;
    ADD_FAILURE() << "no region " << testing::PrintToString(path);
    return none;
  }

  std::vector<sample::RegionCounts> regions_;
  std::vector<std::string> notes_;
};

TEST_F(NativeRegions, HaveVisitsAndTimesOverAllThreads) {
  run({"threads"});
  EXPECT_EQ(find({"outer"}).visits, 80u);
  EXPECT_EQ(find({"outer", "inner"}).visits, 160u);
  ASSERT_TRUE(find({"outer"}).time && find({"outer", "inner"}).time);
  EXPECT_GT(find({"outer", "inner"}).time->count(), 0);
  EXPECT_GE(*find({"outer"}).time, *find({"outer", "inner"}).time);
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_EQ(std::getenv("LOFT_REGIONS"), nullptr);
}

TEST_F(NativeRegions, GoOnInTheChildOfAFork) {
  run({"fork"});
  EXPECT_EQ(find({"outer"}).visits, 1u);
  EXPECT_EQ(find({"outer", "inner"}).visits, 2u);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(NativeRegions, ReportWrongEndsAndWhatIsStillOpen) {
  run({"wrong"});
  EXPECT_EQ(find({"outer"}).visits, 1u);
  EXPECT_THAT(notes_, Contains(HasSubstr("the first named 'never begun' when no region was open")));
  EXPECT_THAT(notes_, Contains(HasSubstr("1 regions were still open")));
}

TEST_F(NativeRegions, AreNoneWhereNothingIsMarked) {
  run({"nothing"});
  EXPECT_THAT(regions_, IsEmpty());
  EXPECT_THAT(notes_, Contains(HasSubstr("marked no region")));
}

}  // namespace
}  // namespace loft::source
#endif
