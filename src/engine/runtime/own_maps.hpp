// What /proc says about the process, as if the engine were not there: its arguments,
// variables and auxiliary vector, and its mappings without those of the engine.
#pragma once

#include <elf.h>

#include <cstdint>

namespace loft::engine::runtime {

// The engine's own mappings; before the program is loaded.
void remember_own_maps();

// Tells the kernel where the program's arguments, variables and auxiliary vector are. Where it does
// not listen, /proc/PID/cmdline shows the engine's words in front.
void show_arguments(const char* first_argument, const char* variables_end,
                    const Elf64_auxv_t* auxiliary);

// A descriptor to read the program's mappings from, instead of /proc/self/maps opened with `flags`.
long open_maps(std::uint64_t flags);

}  // namespace loft::engine::runtime
