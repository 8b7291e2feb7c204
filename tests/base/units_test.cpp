#include "base/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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
  EXPECT_EQ(with_binary_prefix(0), "0 B");
  EXPECT_EQ(with_binary_prefix(1023), "1023 B");
  EXPECT_EQ(with_binary_prefix(18446744073709551615u), "16 EiB");
}

// Once this said "1024.0 KiB".
TEST(Units, ABinaryPrefixIsChosenAfterRounding) {
  EXPECT_EQ(with_binary_prefix((1u << 20) - 1), "1.0 MiB");
  EXPECT_EQ(with_binary_prefix((1u << 20) - 100), "1023.9 KiB");
}

TEST(Units, AnSiPrefixIsChosenAfterRounding) {
  EXPECT_EQ(with_si_prefix(999499, "B"), "999 kB");
  EXPECT_EQ(with_si_prefix(999500, "B"), "1.00 MB");
  EXPECT_EQ(with_si_prefix(9.994, "s"), "9.99 s");
  EXPECT_EQ(with_si_prefix(9.996, "s"), "10.0 s");
  EXPECT_EQ(with_si_prefix(99.96, "s"), "100 s");
}

TEST(Units, NumbersBeyondAllPrefixesStayReadable) {
  EXPECT_EQ(with_si_prefix(2.5e21, "FLOP/s"), "2500 EFLOP/s");
  EXPECT_EQ(with_si_prefix(2e-12, "s"), "0.00 ns");
  EXPECT_EQ(with_si_prefix(std::numeric_limits<double>::infinity(), "B/s"), "inf B/s");
  EXPECT_EQ(with_si_prefix(std::nan(""), "B/s"), "nan B/s");
}

TEST(Units, SecondsHaveTheirPrefix) {
  EXPECT_EQ(format_seconds(1.2345), "1.23 s");
  EXPECT_EQ(format_seconds(56.7e-3), "56.7 ms");
  EXPECT_EQ(format_seconds(8.9e-6), "8.90 us");
}

}  // namespace
}  // namespace loft
