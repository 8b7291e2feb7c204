// The steps of classify(), one per file. Each fills its part of the facts.
#pragma once

#include "engine/classify/facts.hpp"
#include "engine/classify/mnemonics.hpp"

namespace loft::engine::detail {

// One instruction on its way through the steps.
struct Subject {
  const ZydisDecodedInstruction& instruction;
  const ZydisDecodedOperand* operands;
  const MnemonicFacts& mnemonic;
  std::string_view name;  // of the mnemonic

  [[nodiscard]] std::span<const ZydisDecodedOperand> all() const {
    return {operands, instruction.operand_count};
  }
  [[nodiscard]] bool has(ZydisInstructionAttributes attribute) const {
    return (instruction.attributes & attribute) != 0;
  }
  [[nodiscard]] bool is(ZydisMnemonic which) const { return instruction.mnemonic == which; }
};

void describe_class(const Subject& subject, InstructionFacts& facts);      // class.cpp
void describe_memory(const Subject& subject, InstructionFacts& facts);     // memory.cpp
void describe_flops(const Subject& subject, InstructionFacts& facts);      // flops.cpp
void describe_registers(const Subject& subject, InstructionFacts& facts);  // registers.cpp
void describe_flags(const Subject& subject, InstructionFacts& facts);      // flags.cpp

// Whether the string instruction has a repeat prefix.
[[nodiscard]] bool is_repeated(const Subject& subject);

// f3 49 90 is xchg r8, rax on processors, which the decoder takes for pause.
[[nodiscard]] bool is_exchange_called_pause(const Subject& subject);

// The register that a repeated string instruction counts down.
[[nodiscard]] UnitSource iterations_of(const Subject& subject);

// The opmask that governs the lanes, or none: k0 stands for all lanes.
[[nodiscard]] ZydisRegister governing_mask(const Subject& subject);

// Adds `amount` of `measure` for each unit of `source`.
void add_per_unit(InstructionFacts& facts, const UnitSource& source, Measure measure, int amount);

// Bits of the vectors that the instruction works on: 64 to 512, 0 without vectors.
[[nodiscard]] unsigned vector_bits(const Subject& subject);

}  // namespace loft::engine::detail
