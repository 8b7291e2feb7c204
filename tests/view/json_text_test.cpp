#include "view/json_text.hpp"

#include <gtest/gtest.h>

namespace loft::view {
namespace {

TEST(JsonText, HexadecimalDigitsAreTheUsualOnes) {
  for (std::uint64_t value : {0ull, 1ull, 0x9ull, 0xaull, 0xfull, 0x10ull, 0xabcdef0123456789ull,
                              0xffffffff81000000ull, 0x00000000ffffffffull, ~0ull}) {
    std::string text;
    append_hex(text, value);
    EXPECT_EQ(text, fmt::format("{:x}", value));
  }
}

}  // namespace
}  // namespace loft::view
