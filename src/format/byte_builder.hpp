// Bytes put together field by field, in either byte order: the counterpart of ByteReader.
//
//   ByteBuilder body(ByteOrder::little);
//   body.u32(pid).u32(tid).text_padded("app", 8);
#pragma once

#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace loft::format {

class ByteBuilder {
 public:
  explicit ByteBuilder(ByteOrder order = kHostOrder) : order_(order) {}

  ByteBuilder& u8(std::uint8_t value) {
    bytes_.push_back(static_cast<std::byte>(value));
    return *this;
  }
  ByteBuilder& u16(std::uint16_t value) { return number(value); }
  ByteBuilder& u32(std::uint32_t value) { return number(value); }
  ByteBuilder& u64(std::uint64_t value) { return number(value); }

  ByteBuilder& bytes(std::span<const std::byte> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }
  ByteBuilder& text(std::string_view value) {
    return bytes(std::as_bytes(std::span(value.data(), value.size())));
  }
  // The text with its NUL, filled up so that it takes a multiple of `unit` bytes.
  ByteBuilder& text_padded(std::string_view value, std::size_t unit) {
    text(value).u8(0);
    for (std::size_t size = value.size() + 1; size % unit != 0; ++size) u8(0);
    return *this;
  }
  ByteBuilder& pad_to(std::size_t unit) {
    while (bytes_.size() % unit != 0) u8(0);
    return *this;
  }

  [[nodiscard]] std::span<const std::byte> view() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] ByteOrder order() const { return order_; }
  void clear() { bytes_.clear(); }

 private:
  template <class T>
  ByteBuilder& number(T value) {
    if (order_ != kHostOrder) value = swapped(value);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
    return *this;
  }

  std::vector<std::byte> bytes_;
  ByteOrder order_;
};

}  // namespace loft::format
