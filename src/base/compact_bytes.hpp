// Numbers and texts as few bytes, and back: what sections of recordings are made of.
//
//   CompactWriter out;
//   out.number(3);
//   out.text("solve");
//   CompactReader in(bytes);
//   if (in.number() != 3 || in.has_failed()) return damaged();
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace loft {

class CompactWriter {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void real(double value) {
    std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8) byte(static_cast<std::uint8_t>(bits));
  }
  void text(const std::string& value) {
    number(value.size());
    for (const char c : value) byte(static_cast<std::uint8_t>(c));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  std::vector<std::byte> bytes_;
};

// After a mistake everything is 0 and empty; has_failed() tells.
class CompactReader {
 public:
  explicit CompactReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
      if ((next & 0x80) == 0) return has_failed_ ? 0 : value;
    }
    has_failed_ = true;
    return 0;
  }
  // Of things that take a byte each, at least.
  std::size_t count() { return checked(number(), bytes_.size() + 1); }
  // Below `limit`.
  std::uint32_t index(std::size_t limit) {
    return static_cast<std::uint32_t>(checked(number(), limit));
  }
  // An index below `limit`, written plus 1; 0 stands for `none`.
  std::uint32_t index_or(std::size_t limit, std::uint32_t none) {
    const std::uint64_t value = checked(number(), limit + 1);
    return value == 0 ? none : static_cast<std::uint32_t>(value - 1);
  }
  double real() {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 8; ++i) bits |= static_cast<std::uint64_t>(byte()) << 8 * i;
    return std::bit_cast<double>(bits);
  }
  std::string text() {
    std::string value(count(), '\0');
    if (value.size() > bytes_.size()) has_failed_ = true;
    if (has_failed_) return {};
    std::memcpy(value.data(), bytes_.data(), value.size());
    bytes_ = bytes_.subspan(value.size());
    return value;
  }
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  void fail() { has_failed_ = true; }

 private:
  std::uint64_t checked(std::uint64_t value, std::uint64_t limit) {
    if (value >= limit) has_failed_ = true;
    return has_failed_ ? 0 : value;
  }
  std::uint8_t byte() {
    if (bytes_.empty()) has_failed_ = true;
    if (has_failed_) return 0;
    const auto value = static_cast<std::uint8_t>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return value;
  }

  std::span<const std::byte> bytes_;
  bool has_failed_ = false;
};

}  // namespace loft
