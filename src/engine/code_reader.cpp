#include "engine/code_reader.hpp"

#include "engine/classify/facts.hpp"

namespace loft::engine {
namespace {

// The bytes that decide the kind. Where a direct branch leads does not.
std::string_view deciding_bytes(std::string_view code, const ZydisDecodedInstruction& decoded) {
  const auto& immediate = decoded.raw.imm[0];
  return code.substr(0, immediate.is_relative ? immediate.offset : decoded.length);
}

}  // namespace

CodeReader::CodeReader() {
  ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

void CodeReader::read(std::span<const std::uint8_t> code, std::vector<KindId>& kinds,
                      std::vector<std::uint8_t>& lengths) {
  // A copy: the program may write what it shares with us.
  const std::string bytes(code.begin(), code.end());
  constexpr std::size_t kMostRemembered = 1u << 20;  // a program may make code without end
  if (by_block_.size() >= kMostRemembered) by_block_.clear(), known_.clear();
  if (by_instruction_.size() >= kMostRemembered) by_instruction_.clear();
  const auto [block, is_new] = by_block_.try_emplace(bytes);
  if (is_new) block->second = decode(bytes);
  const auto [first, count] = block->second;
  for (const Known& known : std::span(known_).subspan(first, count)) {
    kinds.push_back(known.kind);
    lengths.push_back(known.length);
  }
}

CodeReader::Range CodeReader::decode(std::string_view code) {
  const auto first = static_cast<std::uint32_t>(known_.size());
  while (!code.empty()) {
    const Known known = decode_one(code);
    if (known.length == 0) break;
    known_.push_back(known);
    code.remove_prefix(known.length);
  }
  return {first, static_cast<std::uint32_t>(known_.size()) - first};
}

CodeReader::Known CodeReader::decode_one(std::string_view code) {
  ZydisDecodedInstruction instruction;
  ZydisDecoderContext context;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, &context, code.data(), code.size(),
                                                  &instruction)))
    return {};
  const auto [known, is_new] =
      by_instruction_.try_emplace(std::string(deciding_bytes(code, instruction)));
  if (is_new) {
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder_, &context, &instruction, operands,
                                                 instruction.operand_count))) {
      by_instruction_.erase(known);
      return {};
    }
    known->second = kinds_.intern(classify(instruction, operands).kind);
  }
  return {known->second, instruction.length};
}

}  // namespace loft::engine
