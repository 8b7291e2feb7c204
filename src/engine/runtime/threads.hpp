// Threads and processes that the program starts: each thread gets a context and counters of its
// own.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// The context of the first thread; its gs is set.
Context* open_first_context(std::uint64_t engine_fs);

// Gives the context a second one, for the inside of the region, with counters of its own.
void open_inner_context(Context* context);

// A context for a marked region inside of `parent`'s, with counters of its own.
Context* open_mark_context(Context* parent, const Mark& mark);

// clone, fork, vfork, clone3. `next_pc` is where parent and child go on.
long run_clone(Context* context, std::uint64_t flags, std::uint64_t stack, std::uint64_t parent_tid,
               std::uint64_t child_tid, std::uint64_t tls, std::uint64_t next_pc);
long run_clone3(Context* context, std::uint64_t arguments, std::uint64_t size,
                std::uint64_t next_pc);

// Whether no other thread runs in this process.
bool is_alone(const Context* context);
// All threads of this process get the context's filters of system calls.
void share_filters(const Context* context);

// The thread ends; never returns.
[[noreturn]] void run_exit(Context* context, std::uint64_t status);

}  // namespace loft::engine::runtime
