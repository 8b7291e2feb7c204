// The kernel's page of old system calls, at the same address in every process: it cannot be read,
// and what is called there is done by the kernel. Programs linked statically long ago use it.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// Whether the address is an entry of the page. Whether there is such a page, find_region() knows.
bool is_vsyscall(std::uint64_t pc);

// Does the call and returns from it: where the program goes on, or 0 when its stack cannot be read.
std::uint64_t run_vsyscall(Context* context, std::uint64_t pc);

}  // namespace loft::engine::runtime
