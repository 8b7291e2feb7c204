#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace loft {
namespace {

using Buffer = std::vector<std::byte>;

Buffer bytes_of(std::initializer_list<int> values) {
  Buffer out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST(ByteReader, ReadsNumbersInEitherOrder) {
  const Buffer bytes = bytes_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  ByteReader little(bytes, ByteOrder::little);
  EXPECT_EQ(little.u8(), 0x01u);
  EXPECT_EQ(little.u16(), 0x0302u);
  EXPECT_EQ(little.u32(), 0x07060504u);
  EXPECT_EQ(little.u64(), 0x0f0e0d0c0b0a0908u);
  EXPECT_TRUE(little.ok() && little.at_end());
  ByteReader big(bytes, ByteOrder::big);
  EXPECT_EQ(big.u8(), 0x01u);
  EXPECT_EQ(big.u16(), 0x0203u);
  EXPECT_EQ(big.u32(), 0x04050607u);
  EXPECT_EQ(big.u64(), 0x08090a0b0c0d0e0fu);
  EXPECT_TRUE(big.ok() && big.at_end());
}

TEST(ByteReader, ReadsNumbersOfOddSizes) {
  const Buffer bytes = bytes_of({1, 2, 3, 4, 5});
  EXPECT_EQ(ByteReader(bytes, ByteOrder::little).sized(3), 0x030201u);
  EXPECT_EQ(ByteReader(bytes, ByteOrder::big).sized(3), 0x010203u);
  EXPECT_EQ(ByteReader(bytes, ByteOrder::big).sized(4), 0x01020304u);
  for (const std::size_t size : {0u, 6u, 8u, 9u}) {
    ByteReader in(bytes, ByteOrder::little);
    EXPECT_EQ(in.sized(size), 0u) << size;
    EXPECT_FALSE(in.ok()) << size;
  }
}

TEST(ByteReader, AReadPastTheEndGivesZeroAndStaysFailed) {
  const Buffer bytes = bytes_of({1, 2, 3, 0});
  ByteReader in(bytes, ByteOrder::little);
  EXPECT_EQ(in.u64(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.remaining(), 0u);
  EXPECT_EQ(in.u8(), 0u) << "no byte after a failure, though there are four";
  EXPECT_TRUE(in.text().empty());
  EXPECT_TRUE(in.take(1).empty());
  EXPECT_FALSE(in.ok());
}

TEST(ByteReader, APositionOutsideIsAFailure) {
  const Buffer bytes = bytes_of({1, 2});
  EXPECT_EQ(ByteReader(bytes, ByteOrder::little, 1).u8(), 2u);
  EXPECT_TRUE(ByteReader(bytes, ByteOrder::little, 2).ok());
  const ByteReader outside(bytes, ByteOrder::little, 3);
  EXPECT_FALSE(outside.ok());
  EXPECT_EQ(outside.remaining(), 0u);
}

TEST(ByteReader, RefusesACountThatTheBytesCannotHold) {
  const Buffer bytes = bytes_of({2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  ByteReader fits(bytes, ByteOrder::little);
  EXPECT_EQ(fits.count32(4), 2u);
  EXPECT_TRUE(fits.ok());
  ByteReader too_many(bytes, ByteOrder::little);
  EXPECT_EQ(too_many.count32(5), 0u);
  EXPECT_FALSE(too_many.ok());
  const Buffer huge = bytes_of({255, 255, 255, 255, 255, 255, 255, 255, 1});
  ByteReader overflowing(huge, ByteOrder::little);
  EXPECT_EQ(overflowing.count64(16), 0u);
  EXPECT_FALSE(overflowing.ok());
}

TEST(ByteReader, ReadsTextsUpToTheirZeroByte) {
  const Buffer bytes = bytes_of({'a', 'b', 0, 'c', 0, 'd'});
  ByteReader in(bytes, ByteOrder::little);
  EXPECT_EQ(in.text(), "ab");
  EXPECT_EQ(in.text(), "c");
  EXPECT_EQ(in.text(), "") << "without its end it is no text";
  EXPECT_FALSE(in.ok());
}

TEST(ByteReader, ATextFieldEndsAtItsZeroByteOrWithTheField) {
  const Buffer bytes = bytes_of({'a', 0, 'x', 'b', 'c', 'd'});
  ByteReader in(bytes, ByteOrder::little);
  EXPECT_EQ(in.text_field(3), "a");
  EXPECT_EQ(in.text_field(3), "bcd");
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.text_field(1), "");
  EXPECT_FALSE(in.ok());
}

// The examples of the DWARF standard, figures 22 and 23.
TEST(ByteReader, ReadsLeb128) {
  const Buffer unsigned_ones = bytes_of({2, 127, 0x80, 1, 0x81, 1, 0x80, 0x80, 1});
  ByteReader in(unsigned_ones, ByteOrder::little);
  for (const std::uint64_t expected : {2u, 127u, 128u, 129u, 16384u})
    EXPECT_EQ(in.uleb(), expected);
  const Buffer signed_ones = bytes_of({2, 0x7e, 0xff, 0, 0x81, 0x7f, 0x80, 1, 0x80, 0x7f});
  ByteReader with_sign(signed_ones, ByteOrder::little);
  for (const std::int64_t expected : {2, -2, 127, -127, 128, -128})
    EXPECT_EQ(with_sign.sleb(), expected);
  EXPECT_TRUE(in.ok() && with_sign.ok());
}

TEST(ByteReader, Leb128WithoutEndFailsAndDropsBitsBeyond64) {
  const Buffer endless(20, static_cast<std::byte>(0x80));
  ByteReader without_end(endless, ByteOrder::little);
  EXPECT_EQ(without_end.uleb(), 0u);
  EXPECT_FALSE(without_end.ok());
  ByteReader without_end_signed(endless, ByteOrder::little);
  EXPECT_EQ(without_end_signed.sleb(), 0);
  EXPECT_FALSE(without_end_signed.ok());
  Buffer long_one(12, static_cast<std::byte>(0xff));
  long_one.push_back(static_cast<std::byte>(0x7f));
  ByteReader in(long_one, ByteOrder::little);
  EXPECT_EQ(in.uleb(), ~std::uint64_t{0});
  EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(TextAt, IsEmptyOutsideTheSectionAndWithoutAnEnd) {
  const Buffer section = bytes_of({'o', 'n', 'e', 0, 't', 'w', 'o'});
  EXPECT_EQ(text_at(section, 0), "one");
  EXPECT_EQ(text_at(section, 2), "e");
  EXPECT_EQ(text_at(section, 4), "");
  EXPECT_EQ(text_at(section, ~std::uint64_t{0}), "");
}

}  // namespace
}  // namespace loft
