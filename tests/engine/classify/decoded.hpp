// Bytes to facts, for tests.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "engine/classify/facts.hpp"

namespace loft::engine {

struct Decoded {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  InstructionFacts facts;
};

inline std::optional<Decoded> decode(std::span<const std::uint8_t> bytes) {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  Decoded decoded;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(),
                                           &decoded.instruction, decoded.operands)))
    return std::nullopt;
  decoded.facts = classify(decoded.instruction, decoded.operands);
  return decoded;
}

inline std::vector<std::uint8_t> from_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const auto value = parse_hex(text.substr(i, 2));
    if (!value) return {};
    bytes.push_back(static_cast<std::uint8_t>(*value));
  }
  return bytes;
}

inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace loft::engine
