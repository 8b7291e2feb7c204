// Which traces were made of which page, so that they can be forgotten when its bytes change.
//
// Code that can be written: its pages lose their write permission when they are translated. The
// first write faults; the engine then forgets the page's translations and gives the permission
// back. A page that is written again and again while its code runs (data beside code, trampolines
// on a stack, code that changes itself) is left alone after a while, and is checked instead: each
// block made of it compares its bytes before it runs, and ends behind what it writes. Where the
// same memory is mapped elsewhere to be written (compilers that never have pages both writable and
// executable do so), it is the pages there that lose the permission.
#pragma once

#include <cstdint>

namespace loft::engine::runtime {

struct Trace;

// cache_lock() is held for all of these.
// Notes which pages the trace was made of; writes to those that can be written are noticed from now
// on.
void note_pages(Trace& trace);
// Forgets the traces made of bytes in the range.
void forget_traces(std::uint64_t start, std::uint64_t end);
// True when the page of the address has lost its write permission to us.
bool is_protected(std::uint64_t address);
// True when a write to `address` by the instruction at `pc` faulted because of us and can be tried
// again.
bool unprotect_code(std::uint64_t address, std::uint64_t pc);
// True when code of the range must compare its bytes before it runs.
bool is_checked(std::uint64_t start, std::uint64_t end);
// Gives all pages their permission back; false when there are none that lack it.
bool unprotect_all();
// True when memory that is no code is watched for writes to code.
bool has_aliases();
// The program maps or protects the range anew: what was protected there is so no more.
void forget_protection(std::uint64_t start, std::uint64_t end);

}  // namespace loft::engine::runtime
