#include "source/virtual/shared_lines.hpp"

#include <gtest/gtest.h>

namespace loft::source::virtual_pmu {
namespace {

TEST(SharedLines, ALineThatTwoThreadsWriteIsContended) {
  SharedLines lines;
  for (int i = 0; i < 100; ++i) {
    lines.note(0, 0x1000, true);
    lines.note(1, 0x1008, true);
  }
  EXPECT_TRUE(lines.is_contended(0, 0x1000, true));
  EXPECT_TRUE(lines.is_contended(1, 0x1008, false)) << "another word of the same line";
  EXPECT_FALSE(lines.is_contended(0, 0x1040, true));
}

TEST(SharedLines, WhatOneThreadUsesOrAllReadIsNot) {
  SharedLines lines;
  for (int i = 0; i < 100; ++i) {
    lines.note(0, 0x1000, true);
    for (std::uint32_t slot = 0; slot < 3; ++slot) lines.note(slot, 0x2000, false);
  }
  EXPECT_FALSE(lines.is_contended(0, 0x1000, true));
  EXPECT_FALSE(lines.is_contended(1, 0x2000, false));
}

TEST(SharedLines, AReaderIsDisturbedByAWriterAndNotTheOtherWayIfItReadsRarely) {
  SharedLines lines;
  for (int i = 0; i < 100; ++i) lines.note(0, 0x1000, true);
  lines.note(1, 0x1000, false);
  EXPECT_TRUE(lines.is_contended(1, 0x1000, false));
  EXPECT_FALSE(lines.is_contended(0, 0x1000, true));
  lines.clear();
  EXPECT_FALSE(lines.is_contended(1, 0x1000, false));
}

}  // namespace
}  // namespace loft::source::virtual_pmu
