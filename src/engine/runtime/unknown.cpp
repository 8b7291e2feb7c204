#include "engine/runtime/unknown.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint32_t kLongest = 15;

bool is_harmless_prefix(std::uint8_t byte) {
  return byte == 0x26 || byte == 0x2E || byte == 0x36 || byte == 0x3E || byte == 0x64 ||
         byte == 0x67;
}

// Bytes of the VEX or EVEX prefix, and the opcode map that it names; 0 when it is none.
struct Prefix {
  std::uint32_t bytes;
  std::uint32_t map;
};

Prefix prefix_of(std::uint8_t first, std::uint8_t second) {
  switch (first) {
    case 0xC5:
      return {2, 1};
    case 0xC4:
      return {3, second & 31u};
    case 0x62:
      return {4, second & 7u};
    default:
      return {0, 0};
  }
}

bool has_immediate(std::uint32_t map, std::uint8_t opcode) {
  if (map == 1)
    return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xC2 ||
           (opcode >= 0xC4 && opcode <= 0xC6);
  return map == 3;
}

}  // namespace

std::uint8_t length_of_unknown(const std::uint8_t* bytes, std::uint32_t available) {
  if (available > kLongest) available = kLongest;
  std::uint32_t at = 0;
  while (at < available && is_harmless_prefix(bytes[at])) ++at;
  if (at + 2 > available) return 0;
  const Prefix prefix = prefix_of(bytes[at], bytes[at + 1]);
  at += prefix.bytes;
  const bool is_known_map =
      (prefix.map >= 1 && prefix.map <= 3) || prefix.map == 5 || prefix.map == 6;
  if (prefix.bytes == 0 || !is_known_map || at + 2 > available) return 0;
  const bool immediate = has_immediate(prefix.map, bytes[at]);
  const std::uint8_t modrm = bytes[at + 1];
  at += 2;
  const int mod = modrm >> 6;
  const int rm = modrm & 7;
  if (mod == 0 && rm == 5) return 0;
  if (mod != 3 && rm == 4) {
    if (at == available) return 0;
    if (mod == 0 && (bytes[at] & 7) == 5) at += 4;
    ++at;
  }
  at += mod == 1 ? 1 : mod == 2 ? 4 : 0;
  at += immediate ? 1 : 0;
  return at <= available ? static_cast<std::uint8_t>(at) : std::uint8_t{0};
}

}  // namespace loft::engine::runtime
