// Proof that machine code does what its kernel says: a few trips are run both ways, by the CPU and
// by a plain interpreter, and every register and byte must agree.
#pragma once

#include "base/result.hpp"
#include "machine/emit.hpp"

namespace loft::machine {

// The registers' start: m and a near 1 and 0 but neither, accumulators around 1. Nothing that
// a kernel does in a second leaves the normal numbers.
void fill_vectors(std::byte* vectors, Precision precision);

// Does in C++ what the kernel does.
void interpret(const Kernel& kernel, Arguments& arguments);

[[nodiscard]] Result<void> check(const Kernel& kernel, const Code& code);

}  // namespace loft::machine
