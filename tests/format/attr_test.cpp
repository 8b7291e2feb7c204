#include <gtest/gtest.h>

#include "format/builders.hpp"

namespace loft::format::perf {
namespace {

class AttrInBothOrders : public testing::TestWithParam<ByteOrder> {};
INSTANTIATE_TEST_SUITE_P(Orders, AttrInBothOrders,
                         testing::Values(ByteOrder::little, ByteOrder::big));

TEST_P(AttrInBothOrders, ReadsNumbersAndBitFields) {
  BuiltEvent event;
  event.config = 0x1234;
  event.flags = 1u << 1 | 1u << 5 | 1u << 10 | 1u << 18;  // inherit, exclude_kernel, freq, id_all
  event.regs_user = 0xFF0;
  event.stack_user = 4096;
  const auto attr = read_attr(attr_bytes(event, GetParam()), GetParam());
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->config, 0x1234u);
  EXPECT_TRUE(attr->inherit);
  EXPECT_TRUE(attr->exclude_kernel);
  EXPECT_TRUE(attr->freq);
  EXPECT_TRUE(attr->sample_id_all);
  EXPECT_FALSE(attr->exclude_user);
  EXPECT_EQ(attr->sample_regs_user, 0xFF0u);
  EXPECT_EQ(attr->sample_stack_user, 4096u);
}

TEST(Attr, ReadsPreciseIpOfABigEndianMachine) {
  ByteBuilder out(ByteOrder::big);
  out.u32(0).u32(64).u64(0).u64(0).u64(0).u64(0);
  out.u64(std::uint64_t{2} << (64 - 15 - 2)).u32(0).u32(0).u64(0);  // a field of two bits
  const auto attr = read_attr(out.view(), ByteOrder::big);
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->precise_ip, 2);
}

TEST(Attr, AShortOneLeavesTheRestZero) {
  BuiltEvent event;
  event.attr_size = 64;
  event.regs_user = 0xFF;
  const auto attr = read_attr(attr_bytes(event, ByteOrder::little), ByteOrder::little);
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->sample_regs_user, 0u);
}

TEST(Attr, ALongerOneIsReadAsFarAsItIsKnown) {
  BuiltEvent event;
  event.attr_size = 200;
  event.regs_intr = 0x7;
  const auto attr = read_attr(attr_bytes(event, ByteOrder::little), ByteOrder::little);
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->sample_regs_intr, 0x7u);
}

TEST(Attr, RefusesOneThatIsTooShort) { EXPECT_FALSE(read_attr(Bytes(63), ByteOrder::little)); }

}  // namespace
}  // namespace loft::format::perf
