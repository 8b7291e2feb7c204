#include "engine/classify/disassemble.hpp"

#include <Zydis/Zydis.h>

#include "engine/classify/static_instruction.hpp"

namespace loft::engine {
namespace {

bool computes_on_vectors(const StaticInstruction& fixed) {
  if (fixed.is_zeroing) return false;
  switch (fixed.insn_class) {
    case InsnClass::x87_arith:
    case InsnClass::fp_arith:
    case InsnClass::fp_compare:
    case InsnClass::fp_convert:
    case InsnClass::simd_arith:
    case InsnClass::simd_mul:
    case InsnClass::simd_compare:
    case InsnClass::simd_logic:
    case InsnClass::simd_shift:
      return true;
    default:
      return false;
  }
}

void note_vectors(const StaticInstruction& fixed, DisassembledInstruction& line) {
  line.vector_bits = static_cast<std::uint16_t>(8 * fixed.vector_bytes);
  if (fixed.insn_class == InsnClass::x87_arith) line.vector_bits = 64;
  line.computes = line.vector_bits > 0 && computes_on_vectors(fixed);
  line.is_masked = line.vector_bits > 0 && fixed.is_masked;
}

}  // namespace

std::vector<DisassembledInstruction> disassemble(std::span<const std::byte> bytes,
                                                 std::uint64_t address) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  std::vector<DisassembledInstruction> listing;
  while (!bytes.empty()) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    DisassembledInstruction line;
    line.address = address;
    line.length = 1;
    line.text = "(bad)";
    if (ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &instruction, operands))) {
      char text[256] = "";
      ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
                                      instruction.operand_count_visible, text, sizeof text, address,
                                      nullptr);
      line.length = instruction.length;
      line.text = text;
      const StaticInstruction fixed = describe_static(instruction, operands, address);
      line.branch = fixed.branch;
      line.target = fixed.target;
      note_vectors(fixed, line);
    }
    address += line.length;
    bytes = bytes.subspan(line.length);
    listing.push_back(std::move(line));
  }
  return listing;
}

}  // namespace loft::engine
