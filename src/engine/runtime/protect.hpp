// Code that can be written: its pages lose their write permission when they are translated. The first
// write faults; the engine then forgets the page's translations and gives the permission back.
#pragma once

#include <cstdint>

namespace loft::engine {

// cache_lock() is held for both.
void protect_code(std::uint64_t start, std::uint64_t end);
// True when the fault at `address` was ours and the write can be tried again.
bool unprotect_code(std::uint64_t address);
// The program maps or protects the range anew: what was protected there is so no more.
void forget_protection(std::uint64_t start, std::uint64_t end);

}  // namespace loft::engine
