// Starting a program under the engine: what the kernel's execve does, with the engine in between.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// Where the engine's own executable is, and what the running program's is.
void open_exec(const char* engine, const char* program);
const char* program_path();

// execve of the program. Both return only an error, the one that the kernel would give.
long run_exec(Context* context, const char* path, std::uint64_t arguments,
              std::uint64_t environment);
// execveat: the path starts at a descriptor; an empty one means the descriptor's own file.
long run_exec_at(Context* context, std::uint64_t descriptor, const char* path,
                 std::uint64_t arguments, std::uint64_t environment);

// The descriptor that a path like /dev/fd/7 stands for, where exec will close it; else -1.
long named_descriptor(const char* path);
// Closes the file of a program that was passed on by run_exec_at, once it is loaded.
void close_passed_file(const char* path);

// What kind of file is to be run: 0 for a program of this machine, 1 for a script (its interpreter
// line is then in `line`), or an error of execve.
long inspect_program(const char* path, char* line, std::uint32_t room);

}  // namespace loft::engine::runtime
