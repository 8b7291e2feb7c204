#include "base/text_buffer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace loft {
namespace {

TEST(TextBuffer, PiecesOfEverySizeComeOutAsTheyWentIn) {
  std::string alphabet;
  for (int i = 0; i < 100; ++i) alphabet += static_cast<char>('!' + i % 90);
  TextBuffer buffer;
  std::string expected;
  for (std::size_t size = 0; size <= alphabet.size(); ++size) {
    const auto piece = std::string_view(alphabet).substr(0, size);
    buffer += piece;
    buffer += '|';
    expected += std::string(piece) + '|';
  }
  EXPECT_EQ(buffer.view(), expected);
  buffer.clear();
  EXPECT_EQ(buffer.view(), "");
}

}  // namespace
}  // namespace loft
