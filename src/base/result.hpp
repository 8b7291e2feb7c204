// Errors are values. A function that can fail returns Result<T>; LOFT_TRY hands the error on.
//
//   Result<Config> load(const std::string& path) {
//     LOFT_TRY(const auto text, read_file(path));
//     LOFT_CHECK(validate(text));
//     return parse(text);
//   }
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/error.hpp"

namespace loft {

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

inline Failure failure(ErrorKind kind, std::string what, std::string why, std::string hint = {}) {
  return Failure(Error{kind, std::move(what), std::move(why), std::move(hint)});
}

// A failed system call, explained by its errno.
inline Failure failure_of_errno(int number, std::string what, std::string hint = {}) {
  return failure(kind_of_errno(number), std::move(what), describe_errno(number), std::move(hint));
}

}  // namespace loft

#define LOFT_CONCAT_INNER(a, b) a##b
#define LOFT_CONCAT(a, b) LOFT_CONCAT_INNER(a, b)

// Declares `declaration` from the value of `expression`, or returns its error.
#define LOFT_TRY(declaration, ...) \
  LOFT_TRY_INNER(LOFT_CONCAT(loft_try_, __LINE__), declaration, __VA_ARGS__)
#define LOFT_TRY_INNER(holder, declaration, ...)                      \
  auto holder = (__VA_ARGS__);                                        \
  if (!holder) return tl::make_unexpected(std::move(holder).error()); \
  declaration = *std::move(holder)

// Returns the error of a Result whose value does not matter.
#define LOFT_CHECK(...)                                          \
  do {                                                           \
    if (auto loft_check = (__VA_ARGS__); !loft_check)            \
      return tl::make_unexpected(std::move(loft_check).error()); \
  } while (false)
