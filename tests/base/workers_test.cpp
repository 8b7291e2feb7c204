#include "base/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace loft {
namespace {

TEST(Workers, EachRunsOnceWithItsNumber) {
  std::atomic<unsigned> sum = 0;
  run_workers(5, [&](unsigned number) { sum += 1u << number; });
  EXPECT_EQ(sum, 0x1Fu);
}

// Also of the calling thread; and the others end before it goes on.
TEST(Workers, WhatOneThrowsTheCallerThrows) {
  for (const unsigned thrower : {0u, 3u}) {
    std::atomic<int> ended = 0;
    EXPECT_THROW(run_workers(4,
                             [&](unsigned number) {
                               if (number == thrower) throw std::length_error("too long");
                               ++ended;
                             }),
                 std::length_error);
    EXPECT_EQ(ended, 3);
  }
}

}  // namespace
}  // namespace loft
