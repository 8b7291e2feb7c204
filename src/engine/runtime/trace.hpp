// A piece of the program in the code cache: a block and the blocks that follow it when no branch is
// taken, or where a jump leads a little way forward. It is entered at its top only.
#pragma once

#include <cstdint>

#include "engine/runtime/context.hpp"
#include "engine/runtime/kernel.hpp"

namespace loft::engine::runtime {

struct Arena;

// What an address inside a trace means for the program.
enum class Point : std::uint8_t {
  clean,           // exactly at `pc`, all state is the program's
  ours,            // inside a sequence of ours; the state is the program's again further on
  branch_spilled,  // rax and rcx are in spill0 and spill1
  lent,            // register `reg` is in spill2
  repeating  // at `pc`, but the iterations still to do are counted in the trace's unit number `reg`
};

struct MapPoint {
  std::uint16_t code;  // offset in the trace's code; holds up to the next point
  std::uint16_t pc;    // offset from the trace's pc
  Point point;
  std::uint8_t block;  // which of the trace's blocks
  std::uint8_t index;  // how many of the block's instructions come before
  std::uint8_t reg;
  std::uint8_t round;  // in an unrolled loop: how many rounds were finished but not counted yet
  std::uint8_t ahead;  // not 0: what its mask says is counted already, in the trace's units from
                       // this one less 1 on
};

struct BlockPoint {
  std::uint32_t number;   // in the shared table
  std::uint16_t counted;  // offset in the code from which on the block has been counted
  std::uint16_t pc;       // offset from the trace's pc
  std::uint8_t weight;    // how many rounds are counted there at once
  // With the address stream: the register that holds the buffer, and where in the code it does.
  std::uint8_t stream_register;
  std::uint16_t stream_from;
  std::uint16_t stream_to;
};

struct Trace {
  std::uint64_t pc;
  std::uint64_t pc_end;
  std::uint8_t* code;            // entry
  std::uint8_t* indirect_entry;  // entry with the target in rax, or null
  std::uint32_t code_size;
  std::uint16_t points;
  std::uint8_t blocks;
  bool live;
  Version version;
  std::uint16_t entered;  // offset in the code from which on a watched call is open; 0: none starts
  MapPoint* map;
  BlockPoint* block;
  std::uint32_t* units;  // numbers of the sums that its instructions add to
  Arena* arena;
};

// A way out of a trace towards a place that is not translated yet.
struct Link {
  std::uint64_t target;
  std::uint8_t* displacement;  // 4 bytes to patch when it is
  Arena* arena;
  bool polls;     // a way back: looks for windows
  bool is_fixed;  // always leads to the dispatcher
};

// All below is guarded by cache_lock(), but for find_trace_at().
Lock& cache_lock();

Trace* find_trace(std::uint64_t pc, Version version);
void add_trace(Trace* trace);
// The trace whose code holds the address; safe in a signal handler.
const Trace* find_trace_at(std::uint64_t address);

std::uint32_t add_link(const Link& link);
const Link& link_number(std::uint32_t number);
// Where a trace is entered from behind or by an indirect branch: the same as `code`, or the poll in
// front of it.
std::uint8_t* entry_with_poll(const Trace& trace);
// Bytes of the poll, 0 when there are no windows.
std::uint64_t poll_size();
// Lets the link jump straight to the trace from now on.
void connect(const Link& link, const Trace& trace);

// Makes the trace reachable for indirect branches.
void open_indirect(Trace& trace);
// Emits the entry for indirect branches in front of a trace's code and returns where that starts.
std::uint8_t* emit_indirect_entry(Trace& trace, std::uint8_t* at, bool falls_into_code);
void enter_in_table(Trace& trace);

void forget_trace(Trace& trace);
// All code is made anew, with new blocks, from here on. Threads that are in the old code stay there
// until they come to a branch that was never taken, or an indirect one: it is as right as before.
void renew_traces();

void open_cache();
// The address that `jmp [rcx * 8 + table]` uses, and all that lies with it.
std::uint32_t indirect_table(Version version);
AddressRange table_range();
// A table of the bytes of an xsave area, 16 bits each, by the lowest ten bits of its component
// mask.
std::uint32_t state_table();
// Bytes of components 17 to 19, which are added to it; most machines have none of them.
bool has_high_states();
std::uint32_t high_state_table();

}  // namespace loft::engine::runtime
