// Windows of the address stream: times in which threads write it. Outside of them they run code
// that counts and nothing else, inside code that writes the stream, too: the two versions of a
// trace.
//
//   loft opens a window      it counts `window` up and truncates the second memfd of the run
//   a thread notices         in front of each trace that is entered from behind or indirectly, a
//                            register is stored to a page of that memfd. That faults now, exactly
//                            between two instructions of the program, and in no system call
//   it changes over          maps the page of the next window, and goes on in the other version
//   it changes back          when it has written its share, it forbids itself the page; or loft
//                            closes the window, which is the same as opening one
//
// A thread that sleeps through a window finds its page gone when it wakes, and goes on counting.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// Whether windows may be opened in this run.
bool has_windows();

// The thread has a slot of its own now: chooses the code that it starts with.
void start_version(Context* context);

bool is_poll(const Context* context, std::uint64_t address);
// A poll faulted, or a thread has started: joins or leaves a window.
void follow_window(Context* context);
// Lets the context write in the window, unless it does already.
void join_window(Context* context, std::uint32_t window);
// The thread writes no more in this window. Does nothing outside of one.
void leave_window(Context* context);
// This one of the thread's contexts writes no more in the window; its others may.
void leave_own_window(Context* context);
// The thread has handed over so many bytes.
void spend_window(Context* context, std::uint64_t bytes);

}  // namespace loft::engine::runtime
