// Keeps loft alive when a file that it has mapped shrinks or is rebuilt in place: touching a page
// that is gone would end it with SIGBUS. Instead the rest of the mapping reads as zeros, and the
// guard says that the file changed. Without a fault it costs nothing.
//
//   FaultGuard guard = FaultGuard::of(bytes, "perf.data");
//   parse(bytes);
//   if (guard.has_faulted()) return file_changed("perf.data");
//
// There is one handler for the whole process; faults elsewhere go where they went before.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace loft {

class FaultGuard {
 public:
  FaultGuard() = default;
  FaultGuard(FaultGuard&& other) noexcept : slot_(std::exchange(other.slot_, kNone)) {}
  FaultGuard& operator=(FaultGuard&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~FaultGuard();

  // `bytes` is a whole private mapping of the file called `path`. Not active when too many are
  // guarded already.
  [[nodiscard]] static FaultGuard of(Bytes bytes, const std::string& path);

  [[nodiscard]] bool is_active() const { return slot_ != kNone; }
  [[nodiscard]] bool has_faulted() const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  explicit FaultGuard(std::size_t slot) : slot_(slot) {}

  std::size_t slot_ = kNone;
};

// Files that changed under loft since it started, whether they are still mapped or not.
[[nodiscard]] std::vector<std::string> changed_files();

// What to say about one.
[[nodiscard]] Failure file_changed(const std::string& path);

}  // namespace loft
