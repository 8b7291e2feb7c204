// What a mnemonic alone tells: its class, and for floating point the operation, the precision and
// whether it is scalar. Operands decide the rest (classify.cpp).
#pragma once

#include <Zydis/Zydis.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/classify/kind.hpp"

namespace loft::engine {

struct MnemonicFacts {
  InsnClass insn_class = InsnClass::other;
  FpOp op = FpOp::none;
  Precision precision = Precision::none;
  bool is_scalar = false;  // works on the lowest element alone
  bool is_privileged = false;
  bool is_listed = false;  // named in the table; tests hold that all are
};

[[nodiscard]] const MnemonicFacts& facts_of(ZydisMnemonic mnemonic);

// Names in the table that no mnemonic has, or that stand there twice: must be empty.
[[nodiscard]] std::vector<std::string> unknown_names();

// Expands "(v)add{ps,pd}" to addps, addpd, vaddps, vaddpd, and hands each to `use`.
void expand_names(std::string_view pattern, void (*use)(std::string_view name, void* context),
                  void* context);

}  // namespace loft::engine
