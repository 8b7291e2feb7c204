#include "base/cpu_set.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/temporary_folder.hpp"

namespace loft {
namespace {

TEST(CpuList, ReadsTheNotationOfTheKernel) {
  EXPECT_EQ(*parse_cpu_list("0-3,8,10-11"), (CpuList{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(*parse_cpu_list(" 5\n"), CpuList{5});
}

TEST(CpuList, IsSortedAndWithoutRepeats) {
  EXPECT_EQ(*parse_cpu_list("8,0-2,1,2-3"), (CpuList{0, 1, 2, 3, 8}));
}

TEST(CpuList, RefusesWhatIsNoList) {
  for (const char* bad : {"", "3-1", "1-", "-1", "a", "1,,2", "0-65536", "1-2-3", "0x"}) {
    const auto cpus = parse_cpu_list(bad);
    ASSERT_FALSE(cpus) << bad;
    EXPECT_EQ(cpus.error().kind, ErrorKind::invalid_input);
    EXPECT_EQ(cpus.error().hint, "write it like 0-3,8");
  }
}

// The list may come from a recording: its length in memory must not follow what it repeats.
TEST(CpuList, TakesNoMoreMemoryForARangeThatIsRepeated) {
  std::string text = "0-65535";
  for (int i = 0; i < 2000; ++i) text += ",0-65535";
  EXPECT_EQ(parse_cpu_list(text)->size(), 65536u);
}

TEST(CpuList, IsWrittenInTheNotationOfTheKernel) {
  EXPECT_EQ(format_cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_EQ(format_cpu_list({7}), "7");
  EXPECT_EQ(format_cpu_list({}), "");
  for (const char* text : {"0", "0-1", "0,2,4-6", "1-3,5-7"})
    EXPECT_EQ(format_cpu_list(*parse_cpu_list(text)), text);
}

class OnlineCpus : public TemporaryFolder {};

TEST_F(OnlineCpus, AreReadBelowTheRoot) {
  ASSERT_TRUE(replace_file(path_ + "/sys/devices/system/cpu/online", "0-1,3\n"));
  EXPECT_EQ(*online_cpus(SystemRoot(path_)), (CpuList{0, 1, 3}));
  EXPECT_FALSE(online_cpus(SystemRoot(path_ + "/nowhere")));
}

TEST(AllowedCpus, AreThoseThatWereSet) {
  const auto before = allowed_cpus();
  ASSERT_TRUE(before && !before->empty());
  const CpuList last{before->back()};
  ASSERT_TRUE(set_allowed_cpus(0, last));
  EXPECT_EQ(*allowed_cpus(), last);
  ASSERT_TRUE(set_allowed_cpus(0, *before));
  EXPECT_EQ(*allowed_cpus(), *before);
}

TEST(AllowedCpus, ErrorsNameTheTask) {
  const auto nobody = allowed_cpus(0x7ffffff0);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().what, "read the CPU mask of task 2147483632");
  EXPECT_EQ(nobody.error().kind, ErrorKind::not_found);
  EXPECT_FALSE(set_allowed_cpus(0, {}));
  EXPECT_FALSE(set_allowed_cpus(0, {65535})) << "no such CPU";
}

}  // namespace
}  // namespace loft
