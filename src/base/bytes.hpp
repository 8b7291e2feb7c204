// Reads numbers and texts out of bytes that nobody vouches for. A read past the end gives 0 and
// leaves the reader failed and at its end: read a whole struct, then ask ok() once.
//
//   ByteReader in(bytes, ByteOrder::big);
//   const auto count = in.u32();
//   if (!in.ok() || count > in.remaining() / 8) return malformed();
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace loft {

using Bytes = std::span<const std::byte>;

enum class ByteOrder : std::uint8_t { little, big };

inline constexpr ByteOrder kHostOrder =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

inline constexpr std::uint8_t swapped(std::uint8_t value) { return value; }
inline constexpr std::uint16_t swapped(std::uint16_t value) { return __builtin_bswap16(value); }
inline constexpr std::uint32_t swapped(std::uint32_t value) { return __builtin_bswap32(value); }
inline constexpr std::uint64_t swapped(std::uint64_t value) { return __builtin_bswap64(value); }

// The number at `at`, which need not be aligned. The caller has checked that it is there.
template <class T>
[[nodiscard]] inline T load(const std::byte* at, ByteOrder order) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return order == kHostOrder ? value : swapped(value);
}

class ByteReader {
 public:
  ByteReader() = default;
  // Starts failed when `position` is outside `bytes`.
  ByteReader(Bytes bytes, ByteOrder order, std::size_t position = 0)
      : bytes_(bytes), position_(position), order_(order) {
    if (position > bytes.size()) fail();
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return position_ >= bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] ByteOrder order() const { return order_; }
  [[nodiscard]] const std::byte* here() const { return bytes_.data() + position_; }

  std::uint8_t u8() { return number<std::uint8_t>(); }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }

  // A number of 1 to 8 bytes, as DWARF's addresses and three-byte forms are.
  std::uint64_t sized(std::size_t size) {
    if (size == 8) return u64();
    if (size == 4) return u32();
    if (size == 0 || size > 8 || size > remaining()) return failed();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[position_ + i]);
      value |= byte << (8 * (order_ == ByteOrder::little ? i : size - 1 - i));
    }
    position_ += size;
    return value;
  }

  // DWARF's numbers of variable length, LEB128. Bits beyond 64 are dropped.
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; position_ < bytes_.size(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[position_++]);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return failed();
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
    return static_cast<std::int64_t>(failed());
  }

  // Up to the next zero byte, which is passed over. Fails when there is none.
  std::string_view text() {
    const auto* start = reinterpret_cast<const char*>(here());
    const void* end = at_end() ? nullptr : std::memchr(start, 0, remaining());
    if (end == nullptr) {
      fail();
      return {};
    }
    const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - start);
    position_ += length + 1;
    return {start, length};
  }

  // A field of `size` bytes that holds a text, which ends at its first zero byte or with the field.
  std::string_view text_field(std::uint64_t size) {
    const Bytes field = take(size);
    const std::string_view whole(reinterpret_cast<const char*>(field.data()), field.size());
    return whole.substr(0, whole.find('\0'));
  }

  Bytes take(std::uint64_t size) {
    if (size > remaining()) {
      fail();
      return {};
    }
    const Bytes taken = bytes_.subspan(position_, static_cast<std::size_t>(size));
    position_ += taken.size();
    return taken;
  }
  void skip(std::uint64_t size) { (void)take(size); }

  // A count of elements of at least `element` bytes each, refused when they cannot be here.
  std::uint64_t count32(std::size_t element) { return bounded(u32(), element); }
  std::uint64_t count64(std::size_t element) { return bounded(u64(), element); }

  void fail() {
    ok_ = false;
    position_ = bytes_.size();
  }

 private:
  std::uint64_t failed() {
    fail();
    return 0;
  }
  template <class Number>
  Number number() {
    if (remaining() < sizeof(Number)) return static_cast<Number>(failed());
    const auto value = load<Number>(here(), order_);
    position_ += sizeof value;
    return value;
  }
  std::uint64_t bounded(std::uint64_t count, std::size_t element) {
    return count <= remaining() / element ? count : failed();
  }

  Bytes bytes_;
  std::size_t position_ = 0;
  ByteOrder order_ = ByteOrder::little;
  bool ok_ = true;
};

// The text at `offset` of a string section; empty where there is none.
inline std::string_view text_at(Bytes section, std::uint64_t offset) {
  if (offset >= section.size()) return {};
  return ByteReader(section.subspan(static_cast<std::size_t>(offset)), kHostOrder).text();
}

}  // namespace loft
