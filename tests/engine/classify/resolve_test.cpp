// Places that instructions touch, worked out by hand; AVX-512 and AMX too, which this processor may
// not have.
#include "engine/classify/resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "engine/classify/decoded.hpp"
#include "engine/classify/disassemble.hpp"

namespace loft::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Touch load(std::uint64_t address, std::uint32_t size) { return {address, size, false}; }
Touch store(std::uint64_t address, std::uint32_t size) { return {address, size, true}; }

class Resolve : public testing::Test {
 protected:
  Resolve() {
    state_.general[kRax] = 0x10000;
    state_.general[kRsp] = 0x20000;
    state_.general[kRbp] = 0x30000;
    state_.general[kRsi] = 0x40000;
    state_.general[kRdi] = 0x50000;
    state_.next_rip = 0x400007;
    state_.fs_base = 0x7000000;
  }

  std::vector<Touch> touched_by(std::string_view hex, std::uint64_t iterations = 0) {
    const auto decoded = decode(from_hex(hex));
    EXPECT_TRUE(decoded) << hex;
    std::vector<Touch> touched;
    if (decoded) resolve(decoded->facts, state_, iterations, touched);
    return touched;
  }

  template <class T>
  void set_lanes(int vector, std::initializer_list<T> lanes) {
    std::size_t at = 0;
    for (const T lane : lanes) {
      std::memcpy(state_.vector[static_cast<std::size_t>(vector)].data() + at, &lane, sizeof lane);
      at += sizeof lane;
    }
  }

  RegisterState state_;
};

TEST_F(Resolve, AddsBaseIndexAndDisplacement) {
  state_.general[kRcx] = 3;
  EXPECT_THAT(touched_by("8b448810"), ElementsAre(load(0x1001C, 4)));  // mov eax, [rax+rcx*4+16]
  EXPECT_THAT(touched_by("8b0510000000"), ElementsAre(load(0x400017, 4)));         // [rip+16]
  EXPECT_THAT(touched_by("64488b042508000000"), ElementsAre(load(0x7000008, 8)));  // fs:[8]
  state_.general[kRax] = 0xFFFFFFFF;
  EXPECT_THAT(touched_by("678b4004"), ElementsAre(load(3, 4)));  // mov eax, [eax+4] wraps at 4 GB
}

TEST_F(Resolve, StackAccessesStandWhereTheStackPointerWillBe) {
  EXPECT_THAT(touched_by("50"), ElementsAre(store(0x1FFF8, 8)));  // push rax
  EXPECT_THAT(touched_by("ff742408"), ElementsAre(load(0x20008, 8), store(0x1FFF8, 8)));
  EXPECT_THAT(touched_by("8f442408"), ElementsAre(load(0x20000, 8), store(0x20010, 8)));
  EXPECT_THAT(touched_by("ff10"), ElementsAre(load(0x10000, 8), store(0x1FFF8, 8)));  // call [rax]
  EXPECT_THAT(touched_by("c3"), ElementsAre(load(0x20000, 8)));
  EXPECT_THAT(touched_by("c9"), ElementsAre(load(0x30000, 8)));
  EXPECT_THAT(touched_by("c8200003"),  // enter 32, 3
              ElementsAre(store(0x1FFF8, 8), load(0x2FFF8, 8), store(0x1FFF0, 8), load(0x2FFF0, 8),
                          store(0x1FFE8, 8), store(0x1FFE0, 8)));
}

TEST_F(Resolve, StringInstructionsAlternateAndFollowTheDirection) {
  EXPECT_THAT(touched_by("f3a5", 2), ElementsAre(load(0x40000, 4), store(0x50000, 4),
                                                 load(0x40004, 4), store(0x50004, 4)));
  state_.rflags |= ZYDIS_CPUFLAG_DF;
  EXPECT_THAT(touched_by("f348ab", 2), ElementsAre(store(0x50000, 8), store(0x4FFF8, 8)));
  EXPECT_THAT(touched_by("f3a4", 0), IsEmpty());
  EXPECT_THAT(touched_by("f3a6", 1), ElementsAre(load(0x40000, 1), load(0x50000, 1)));
}

TEST_F(Resolve, BitNumbersReachBeyondTheOperand) {
  state_.general[kRcx] = 100;
  EXPECT_THAT(touched_by("0fa308"), ElementsAre(load(0x1000C, 4)));  // bt [rax], ecx
  state_.general[kRcx] = static_cast<std::uint64_t>(-1);
  EXPECT_THAT(touched_by("480fab08"), ElementsAre(load(0xFFF8, 8), store(0xFFF8, 8)));
}

TEST_F(Resolve, MaskedElementsJoinWhereTheyAreNeighbours) {
  state_.opmask[1] = 0b1000'0000'0000'0111;
  EXPECT_THAT(touched_by("62f17cc91008"),  // vmovups zmm1 {k1}{z}, [rax]
              ElementsAre(load(0x10000, 12), load(0x1003C, 4)));
  state_.opmask[1] = ~0ull;
  EXPECT_THAT(touched_by("62f17c491108"), ElementsAre(store(0x10000, 64)));  // vmovups [rax]{k1}
  state_.opmask[1] = 0xFFFF'0000;                                            // beyond the lanes
  EXPECT_THAT(touched_by("62f17cc91008"), IsEmpty());
}

TEST_F(Resolve, MaskedBroadcastLoadsOnceOrNotAtAll) {
  state_.opmask[2] = 0x8000;
  EXPECT_THAT(touched_by("62f16c5a5808"), ElementsAre(load(0x10000, 4)));  // vaddps {1to16}
  state_.opmask[2] = 0;
  EXPECT_THAT(touched_by("62f16c5a5808"), IsEmpty());
}

TEST_F(Resolve, MaskedBroadcastOfSeveralElementsLoadsThoseThatAreUsed) {
  state_.opmask[1] = 0b0010'0000'0000'0001;  // copies of the first and the second
  EXPECT_THAT(touched_by("62f27d491a08"), ElementsAre(load(0x10000, 8)));  // vbroadcastf32x4
  state_.opmask[1] = 0b0000'1000'0000'0001;
  EXPECT_THAT(touched_by("62f27d491a08"), ElementsAre(load(0x10000, 4), load(0x1000C, 4)));
  state_.opmask[1] = 0b0010'0000;
  EXPECT_THAT(touched_by("62f2fdc91b08"), ElementsAre(load(0x10008, 8)));  // vbroadcastf64x4 {z}
  state_.opmask[1] = 0x100;                                                // beyond the lanes
  EXPECT_THAT(touched_by("62f2fd491b08"), IsEmpty());
}

TEST_F(Resolve, CompressAndExpandPackWhatIsActive) {
  state_.opmask[1] = 0b1010'0001;
  EXPECT_THAT(touched_by("62f2fd498a08"), ElementsAre(store(0x10000, 24)));  // vcompresspd
  EXPECT_THAT(touched_by("62f27dc98808"), ElementsAre(load(0x10000, 12)));   // vexpandps
}

TEST_F(Resolve, GathersTakeActiveLanesFromTheLowest) {
  set_lanes<std::int32_t>(2, {1, -1, 100, 4, 5, 6, 7, 8});
  set_lanes<std::int32_t>(3, {-1, -1, 0, 0, 0, 0, 0, -1});
  EXPECT_THAT(touched_by("c4e265900c90"),  // vpgatherdd ymm1, [rax+ymm2*4], ymm3
              ElementsAre(load(0x10004, 4), load(0xFFFC, 4), load(0x10020, 4)));
  state_.opmask[1] = 0b101;
  EXPECT_THAT(touched_by("62f2fd49920cd0"),  // vgatherdpd zmm1 {k1}, [rax+ymm2*8]
              ElementsAre(load(0x10008, 8), load(0x10320, 8)));
  set_lanes<std::int64_t>(2, {-2, 0, 3});
  EXPECT_THAT(touched_by("62f27d49a30c90"),  // vscatterqps [rax+zmm2*4] {k1}, ymm1
              ElementsAre(store(0xFFF8, 4), store(0x1000C, 4)));
}

TEST_F(Resolve, SignBitsMaskBytesToo) {
  state_.vector[1][3] = 0x80;
  state_.vector[1][4] = 0xFF;
  EXPECT_THAT(touched_by("660ff7c1"), ElementsAre(store(0x50003, 2)));  // maskmovdqu
}

TEST_F(Resolve, TileRowsFollowTheStride) {
  state_.general[kRcx] = 0x100;
  state_.tile_config[0] = 1;
  state_.tile_config[48 + 1] = 3;          // rows of tmm1
  state_.tile_config[16 + 2] = 40;         // bytes per row
  EXPECT_THAT(touched_by("c4e27b4b0c08"),  // tileloadd tmm1, [rax+rcx*1]
              ElementsAre(load(0x10000, 40), load(0x10100, 40), load(0x10200, 40)));
  EXPECT_EQ(tile_shape(state_.tile_config, 1).rows, 3u);
  state_.tile_config[0] = 0;
  EXPECT_THAT(touched_by("c4e27b4b0c08"), IsEmpty());
}

TEST_F(Resolve, TileProductsCountRowsTimesColumnsTimesDepth) {
  state_.tile_config[0] = 1;
  state_.tile_config[48 + 1] = 16;
  state_.tile_config[16 + 2] = 32;  // tmm1: 16 rows of 8 numbers
  state_.tile_config[48 + 2] = 16;
  state_.tile_config[16 + 4] = 64;                      // tmm2: 16 rows of 16 pairs
  const auto product = decode(from_hex("c4e2625cca"));  // tdpbf16ps tmm1, tmm2, tmm3
  ASSERT_TRUE(product);
  EXPECT_EQ(units_of(product->facts, product->facts.sources[0], state_, 0, false), 16u * 8 * 16);
}

TEST_F(Resolve, OneLineIsClearedWholly) {
  state_.general[kRax] = 0x10039;
  EXPECT_THAT(touched_by("0f01fc"), ElementsAre(store(0x10000, 64)));  // clzero
}

TEST(Disassemble, ListsInstructionsWithTheirAddresses) {
  const auto bytes = from_hex(
      "01c8"
      "06"
      "eb02");
  const auto listing = disassemble(std::as_bytes(std::span(bytes)), 0x1000);
  ASSERT_EQ(listing.size(), 3u);
  EXPECT_EQ(listing[0].text, "add eax, ecx");
  EXPECT_EQ(listing[1].text, "(bad)");
  EXPECT_EQ(listing[1].address, 0x1002u);
  EXPECT_EQ(listing[2].text, "jmp 0x0000000000001007");
}

TEST(Disassemble, EndsAtATruncatedInstruction) {
  const auto bytes = from_hex("488b");
  const auto listing = disassemble(std::as_bytes(std::span(bytes)), 0);
  ASSERT_EQ(listing.size(), 2u);
  EXPECT_EQ(listing[0].text, "(bad)");
}

}  // namespace
}  // namespace loft::engine
