#include "metric/unit.hpp"

#include <gtest/gtest.h>

namespace loft::metric {
namespace {

TEST(MetricUnit, PrefixAndQuotientGiveFactorAndDimension) {
  const auto unit = parse_unit("GB/s");
  ASSERT_TRUE(unit);
  EXPECT_DOUBLE_EQ(unit->factor, 1e9);
  EXPECT_EQ(to_string(unit->dimension), "B/s");
}

TEST(MetricUnit, BinaryPrefixesAreNotDecimalOnes) {
  EXPECT_DOUBLE_EQ(parse_unit("MiB")->factor, 1048576);
  EXPECT_DOUBLE_EQ(parse_unit("MB")->factor, 1e6);
}

TEST(MetricUnit, WattIsJoulePerSecond) {
  EXPECT_EQ(parse_unit("W")->dimension, parse_unit("J/s")->dimension);
}

TEST(MetricUnit, CountsHaveNoDimension) {
  EXPECT_TRUE(parse_unit("instr/cycle")->dimension.is_plain());
  EXPECT_TRUE(parse_unit("misses")->dimension.is_plain());
}

TEST(MetricUnit, LabelsOfLikwidAreUnderstood) {
  EXPECT_DOUBLE_EQ(parse_unit("MBytes/s")->factor, 1e6);
  EXPECT_DOUBLE_EQ(parse_unit("MFLOP/s")->factor, 1e6);
  EXPECT_EQ(to_string(parse_unit("MUOPS/s")->dimension), "1/s");
}

TEST(MetricUnit, UnknownWordsAreRefusedByName) {
  const auto unit = parse_unit("parsec/s");
  ASSERT_FALSE(unit);
  EXPECT_NE(unit.error().why.find("parsec"), std::string::npos);
}

TEST(MetricUnit, ValuesArePrintedWithSiPrefixes) {
  EXPECT_EQ(format_value(12.3e9, *parse_unit("B/s")), "12.3 GB/s");
  EXPECT_EQ(format_value(12.3e9, *parse_unit("MB/s")), "12.3 GB/s");
  EXPECT_EQ(format_value(0.123, *parse_unit("%")), "12.3 %");
  EXPECT_EQ(format_value(2, *parse_unit("instr/cycle")), "2 instr/cycle");
}

}  // namespace
}  // namespace loft::metric
