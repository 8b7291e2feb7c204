#include "base/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace loft {
namespace {

// Moving must close what was held, at once and once.
TEST(Fd, ClosesWhatItHeldWhenItIsGivenAnother) {
  const auto is_open = [](int raw) { return ::fcntl(raw, F_GETFD) >= 0; };
  Fd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Fd second(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int one = first.get(), two = second.get();
  first = std::move(second);
  EXPECT_FALSE(is_open(one));
  EXPECT_TRUE(is_open(two));
  EXPECT_EQ(first.get(), two);
  EXPECT_FALSE(second.is_open());
  Fd& same = first;
  first = std::move(same);
  EXPECT_TRUE(is_open(two)) << "a file that is moved to itself stays";
  first = Fd();
  EXPECT_FALSE(is_open(two));
}

}  // namespace
}  // namespace loft
