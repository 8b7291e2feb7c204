#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

#include "base/result.hpp"

namespace loft {
namespace {

TEST(Error, IsOneLineWithWhatWhyAndHint) {
  EXPECT_EQ(to_string({ErrorKind::io, "read it", "it is gone", "try again"}),
            "cannot read it: it is gone; try again");
  EXPECT_EQ(to_string({ErrorKind::io, "read it", "", ""}), "cannot read it");
}

TEST(Error, IsSafeForATerminal) {
  EXPECT_EQ(to_string({ErrorKind::io, "open '\x1b[2J'", "a\nb", ""}),
            "cannot open '\\x1b[2J': a\\x0ab");
}

TEST(Error, AnErrnoHasItsNameAndItsWords) {
  EXPECT_EQ(describe_errno(EACCES), "EACCES (Permission denied)");
  EXPECT_EQ(describe_errno(123456), "error 123456");
}

TEST(Error, AnErrnoHasAKindToBranchOn) {
  EXPECT_EQ(kind_of_errno(ENOENT), ErrorKind::not_found);
  EXPECT_EQ(kind_of_errno(ESRCH), ErrorKind::not_found);
  EXPECT_EQ(kind_of_errno(EPERM), ErrorKind::permission);
  EXPECT_EQ(kind_of_errno(EROFS), ErrorKind::permission);
  EXPECT_EQ(kind_of_errno(ENOSPC), ErrorKind::limit);
  EXPECT_EQ(kind_of_errno(EMFILE), ErrorKind::limit);
  EXPECT_EQ(kind_of_errno(ENOSYS), ErrorKind::unsupported);
  EXPECT_EQ(kind_of_errno(EINVAL), ErrorKind::invalid_input);
  EXPECT_EQ(kind_of_errno(EIO), ErrorKind::io);
}

Result<int> half(int number) {
  if (number % 2 != 0) return failure(ErrorKind::invalid_input, "halve it", "it is odd");
  return number / 2;
}

Result<std::unique_ptr<int>> quarter(int number) {
  LOFT_TRY(const int once, half(number));
  LOFT_TRY(int twice, half(once));
  LOFT_CHECK(half(2 * twice));
  return std::make_unique<int>(twice);
}

TEST(Result, TryHandsTheErrorOn) {
  EXPECT_EQ(**quarter(12), 3);
  for (const int odd : {5, 6}) {
    const auto failed = quarter(odd);
    ASSERT_FALSE(failed) << odd;
    EXPECT_EQ(failed.error().why, "it is odd");
  }
}

}  // namespace
}  // namespace loft
