// Instruction set extensions as families: the generations of the base set are one, and the vector
// lengths of an extension are one.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>
#include <string>
#include <vector>

namespace loft::engine {

// Number of the family that a set belongs to, an index into isa_names().
[[nodiscard]] std::uint16_t isa_family(ZydisISASet set);

// "base", "sse2", "avx512f", ...; the first is "none", of no instruction.
[[nodiscard]] std::vector<std::string> isa_names();

}  // namespace loft::engine
