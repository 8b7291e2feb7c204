// Random instructions: bytes that lean towards the prefixes and opcode maps where instructions are.
#pragma once

#include <array>
#include <cstdint>
#include <random>

namespace loft::engine {

class RandomCode {
 public:
  using Bytes = std::array<std::uint8_t, 15>;

  explicit RandomCode(std::uint32_t seed) : random_(seed) {}

  Bytes next() {
    Bytes bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    std::size_t at = 0;
    static constexpr std::uint8_t kPrefixes[] = {0x66, 0xF2, 0xF3, 0xF0, 0x64, 0x65, 0x67, 0x2E};
    while (random_() % 4 == 0 && at < 3) bytes[at++] = kPrefixes[random_() % 8];
    switch (random_() % 6) {
      case 0:
        break;  // one-byte opcodes
      case 1:
        bytes[at++] = 0x0F;
        break;
      case 2:
        bytes[at++] = 0x0F;
        bytes[at++] = random_() % 2 ? 0x38 : 0x3A;
        break;
      case 3:
        vex(bytes, at);
        break;
      case 4:
        evex(bytes, at);
        break;
      default:
        bytes[at++] = static_cast<std::uint8_t>(0x40 | random_() % 16);  // rex
    }
    return bytes;
  }

 private:
  void vex(Bytes& bytes, std::size_t at) {
    if (random_() % 3 == 0) {
      bytes[at] = 0xC5;
      return;
    }
    bytes[at] = 0xC4;
    bytes[at + 1] = static_cast<std::uint8_t>((bytes[at + 1] & 0xE0) | (1 + random_() % 3));
  }
  void evex(Bytes& bytes, std::size_t at) {
    static constexpr std::uint8_t kMaps[] = {1, 2, 3, 5, 6};
    bytes[at] = 0x62;
    bytes[at + 1] = static_cast<std::uint8_t>((bytes[at + 1] & 0xF0) | kMaps[random_() % 5]);
    bytes[at + 2] = static_cast<std::uint8_t>(bytes[at + 2] | 0x04);
    if (random_() % 2) bytes[at + 2] |= 0x78;  // no second source
    bytes[at + 3] |= 0x08;
  }

  std::mt19937 random_;
};

}  // namespace loft::engine
