#include "base/units.hpp"

#include <gtest/gtest.h>

namespace loft {
namespace {

TEST(Units, ExactCountsKeepEveryDigit) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(18446744073709551615u), "18,446,744,073,709,551,615");
}

TEST(Units, SiPrefixKeepsThreeDigits) {
  EXPECT_EQ(with_si_prefix(1234567, "Hz"), "1.23 MHz");
  EXPECT_EQ(with_si_prefix(0, "B/s"), "0.00 B/s");
  EXPECT_EQ(with_si_prefix(999.9, ""), "1.00 k");
  EXPECT_EQ(with_si_prefix(-2.5e-3, "s"), "-2.50 ms");
  EXPECT_EQ(with_si_prefix(1, "FLOP/B"), "1.00 FLOP/B");
}

TEST(Units, BinaryPrefixForSizes) {
  EXPECT_EQ(with_binary_prefix(32768), "32 KiB");
  EXPECT_EQ(with_binary_prefix(6u << 20), "6 MiB");
  EXPECT_EQ(with_binary_prefix(1536), "1.5 KiB");
}

}  // namespace
}  // namespace loft
