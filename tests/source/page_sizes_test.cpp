#include "source/virtual/page_sizes.hpp"

#include <gmock/gmock.h>

namespace loft::source::virtual_pmu {
namespace {

using testing::ElementsAre;

TEST(PageSizes, FindsMappingsOfLargePages) {
  const auto ranges = large_pages(
      "555500000000-555500300000 r-xp 00000000 08:01 17 /bin/app\n"
      "Size: 3072 kB\nKernelPageSize: 4 kB\nRss: 3072 kB\nAnonHugePages: 0 kB\n"
      // Its first and last part are smaller than a page of 2 MiB.
      "7f0000100000-7f0001500000 rw-p 00000000 00:00 0\n"
      "Size: 20480 kB\nKernelPageSize: 4 kB\nRss: 20000 kB\nAnonHugePages: 18432 kB\n"
      "VmFlags: rd wr\n"
      // Less than half of what is there.
      "7f1000000000-7f1001000000 rw-p 00000000 00:00 0\n"
      "KernelPageSize: 4 kB\nRss: 16384 kB\nAnonHugePages: 2048 kB\n"
      "7f2000000000-7f2080000000 rw-s 00000000 00:0f 9 /anon_hugepage (deleted)\n"
      "KernelPageSize: 1048576 kB\nRss: 0 kB\nAnonHugePages: 0 kB\n");
  EXPECT_THAT(ranges, ElementsAre(PageRange{0x7f0000200000, 0x7f0001400000, 21},
                                  PageRange{0x7f2000000000, 0x7f2080000000, 30}));
}

TEST(PageSizes, SkipsWhatItDoesNotUnderstand) {
  EXPECT_THAT(large_pages(""), ElementsAre());
  EXPECT_THAT(large_pages("AnonHugePages: 4096 kB\n"), ElementsAre());
  EXPECT_THAT(large_pages("2-1 rw-p\nRss: 1 kB\nAnonHugePages: 99 kB"), ElementsAre());
  EXPECT_THAT(large_pages("0-ffffffffffffffff rw-p\nKernelPageSize: 99999999999999999999 kB\n"
                          "Rss: 4 kB\nAnonHugePages: x kB\n"),
              ElementsAre());
  EXPECT_THAT(large_pages("fffffffffff00000-ffffffffffffffff rw-p\nAnonHugePages: 9999 kB\n"),
              ElementsAre());
}

}  // namespace
}  // namespace loft::source::virtual_pmu
