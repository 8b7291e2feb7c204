// What /proc says about the process, as if the engine were not there: its arguments,
// variables and auxiliary vector, and its mappings and descriptors without those of the engine.
#pragma once

#include <elf.h>

#include <cstdint>

#include "engine/runtime/kernel.hpp"

namespace loft::engine::runtime {

// The engine's own mappings; before the program is loaded.
void remember_own_maps();

// The first memory of the engine's between `start` and `end`; false when there is none.
bool find_own_range(std::uint64_t start, std::uint64_t end, AddressRange& found);

// Tells the kernel where the program's arguments, variables and auxiliary vector are. Where it does
// not listen, /proc/PID/cmdline shows the engine's words in front.
void show_arguments(const char* first_argument, const char* variables_end,
                    const Elf64_auxv_t* auxiliary);

// mlockall: the program's memory, and not the engine's, whose tables are as large as they are
// empty. What it maps later is not locked.
long lock_program(std::uint64_t flags);

// Whether the directory is one of the descriptors of a process under the engine; and getdents64 on
// it, without the engine's, which has the same number in all of them.
bool lists_descriptors(std::uint64_t directory);
long list_descriptors(std::uint64_t directory, std::uint64_t buffer, std::uint64_t bytes);

// A descriptor to read the program's mappings from, instead of /proc/self/maps opened with `flags`.
long open_maps(std::uint64_t flags);

}  // namespace loft::engine::runtime
