// Reads numbers and texts out of bytes that nobody vouches for. A read past the end gives 0 and
// leaves the reader failed, so a parser can read a whole header and ask once.
//
//   ByteReader in(bytes, ByteOrder::little);
//   const auto length = in.u32();
//   if (!in.ok()) return malformed();
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace loft::symbols {

using Bytes = std::span<const std::byte>;

enum class ByteOrder : std::uint8_t { little, big };

inline constexpr ByteOrder kNativeOrder =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(Bytes bytes, ByteOrder order, std::size_t position = 0)
      : bytes_(bytes),
        order_(order),
        position_(position <= bytes.size() ? position : bytes.size()) {
    ok_ = position <= bytes.size();
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return position_ >= bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - position_; }
  [[nodiscard]] ByteOrder order() const { return order_; }

  std::uint8_t u8() { return number<std::uint8_t>(); }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }

  // A number of 1 to 8 bytes, as DWARF's addresses and three-byte forms are.
  std::uint64_t sized(std::size_t size) {
    if (size == 8) return u64();
    if (size == 4) return u32();
    if (size == 0 || size > 8 || size > left()) return fail();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[position_ + i]);
      value |= byte << (8 * (order_ == ByteOrder::little ? i : size - 1 - i));
    }
    position_ += size;
    return value;
  }

  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; position_ < bytes_.size(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[position_++]);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail();
  }

  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; position_ < bytes_.size();) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[position_++]);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    return static_cast<std::int64_t>(fail());
  }

  // Up to the next zero byte, which is passed over.
  std::string_view text() {
    const auto* start = reinterpret_cast<const char*>(bytes_.data()) + position_;
    const void* end = left() == 0 ? nullptr : std::memchr(start, 0, left());
    if (end == nullptr) {
      fail();
      return {};
    }
    const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - start);
    position_ += length + 1;
    return {start, length};
  }

  Bytes take(std::uint64_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    const Bytes taken = bytes_.subspan(position_, static_cast<std::size_t>(size));
    position_ += static_cast<std::size_t>(size);
    return taken;
  }

  void skip(std::uint64_t size) {
    if (size > left()) {
      fail();
    } else {
      position_ += static_cast<std::size_t>(size);
    }
  }

  std::uint64_t fail() {
    ok_ = false;
    position_ = bytes_.size();
    return 0;
  }

 private:
  template <class Number>
  Number number() {
    if (left() < sizeof(Number)) return static_cast<Number>(fail());
    Number value;
    std::memcpy(&value, bytes_.data() + position_, sizeof value);
    position_ += sizeof value;
    if constexpr (sizeof value == 2) {
      if (order_ != kNativeOrder) value = __builtin_bswap16(value);
    } else if constexpr (sizeof value == 4) {
      if (order_ != kNativeOrder) value = __builtin_bswap32(value);
    } else if constexpr (sizeof value == 8) {
      if (order_ != kNativeOrder) value = __builtin_bswap64(value);
    }
    return value;
  }

  Bytes bytes_;
  ByteOrder order_ = ByteOrder::little;
  bool ok_ = true;
  std::size_t position_ = 0;
};

// The text at `offset` of a string section; empty where there is none.
inline std::string_view text_at(Bytes section, std::uint64_t offset) {
  if (offset >= section.size()) return {};
  return ByteReader(section.subspan(static_cast<std::size_t>(offset)), kNativeOrder).text();
}

}  // namespace loft::symbols
