// The owner of a file descriptor: closes it when it goes, moves but never copies.
#pragma once

#include <unistd.h>

#include <utility>

namespace loft {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int raw) noexcept : raw_(raw) {}
  Fd(Fd&& other) noexcept : raw_(std::exchange(other.raw_, kNone)) {}
  Fd& operator=(Fd&& other) noexcept {
    const Fd old(std::exchange(raw_, std::exchange(other.raw_, kNone)));
    return *this;  // `old` closes what we held now, not when `other` dies
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (raw_ != kNone) ::close(raw_);
  }

  [[nodiscard]] int get() const noexcept { return raw_; }
  [[nodiscard]] bool is_open() const noexcept { return raw_ != kNone; }

 private:
  static constexpr int kNone = -1;  // 0 is a real descriptor
  int raw_ = kNone;
};

}  // namespace loft
