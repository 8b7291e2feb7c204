// A cursor over bytes that nobody vouches for. Reading past the end gives zeros and is remembered:
// read a whole struct, then ask ok() once.
//
//   Cursor in(bytes, ByteOrder::big);
//   const auto count = in.u32();
//   if (!in.ok() || count > in.remaining() / 8) return malformed(...);
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace loft::format {

enum class ByteOrder : std::uint8_t { little, big };

inline constexpr ByteOrder kHostOrder =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

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

class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, ByteOrder order) : bytes_(bytes), order_(order) {}

  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - at_; }
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] ByteOrder order() const { return order_; }
  [[nodiscard]] const std::byte* here() const { return bytes_.data() + at_; }

  std::uint8_t u8() {
    if (!has(1)) return 0;
    return std::to_integer<std::uint8_t>(bytes_[at_++]);
  }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }

  std::span<const std::byte> take(std::uint64_t count) {
    if (!has(count)) return {};
    const auto part = bytes_.subspan(at_, static_cast<std::size_t>(count));
    at_ += part.size();
    return part;
  }
  void skip(std::uint64_t count) { (void)take(count); }

  // A field of `size` bytes that holds a text, which ends at its first NUL or with the field.
  std::string_view text(std::uint64_t size) {
    const auto field = take(size);
    const std::string_view whole(reinterpret_cast<const char*>(field.data()), field.size());
    return whole.substr(0, whole.find('\0'));
  }

  // A count of elements of at least `element` bytes each, refused when they cannot be here.
  std::uint64_t count32(std::size_t element) { return bounded(u32(), element); }
  std::uint64_t count64(std::size_t element) { return bounded(u64(), element); }

  void fail() { failed_ = true; }

 private:
  [[nodiscard]] bool has(std::uint64_t count) {
    if (count <= remaining() && !failed_) return true;
    failed_ = true;
    return false;
  }
  template <class T>
  T number() {
    if (!has(sizeof(T))) return 0;
    const T value = load<T>(bytes_.data() + at_, order_);
    at_ += sizeof(T);
    return value;
  }
  std::uint64_t bounded(std::uint64_t count, std::size_t element) {
    if (count <= remaining() / element) return count;
    failed_ = true;
    return 0;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  ByteOrder order_;
  bool failed_ = false;
};

}  // namespace loft::format
