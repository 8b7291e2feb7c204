#include "engine/runtime/trace.hpp"

#include <sys/mman.h>

#include "engine/classify/resolve.hpp"
#include "engine/runtime/arena.hpp"
#include "engine/runtime/emitter.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/window.hpp"

extern "C" void engine_indirect_miss();

namespace loft::engine::runtime {
namespace {

Lock g_lock;

// From pc to trace: open addressing, doubled when half full.
struct Slot {
  std::uint64_t pc;
  Trace* trace;
  std::uint32_t landing;  // where traces of this pc that were forgotten lead to: a Link, or 0
};
struct Index {
  Slot* slots;
  std::uint64_t capacity;
  std::uint64_t used;
};
Index g_index[3];
bool g_has_windows = false;

Index& index_of(Version version) { return g_index[static_cast<int>(version)]; }

constexpr std::uint32_t kMaxLinks = 64u << 20;
Link* g_links = nullptr;
std::uint32_t g_link_count = 1;
Ahead g_links_ahead;

// The table of indirect branches lies below 2 GiB, so that code needs no register to reach it. Each
// entry is the first of a chain of entry codes for targets with the same low 16 bits.
constexpr std::uint64_t kTableEntries = 65536;
constexpr std::uint64_t kTablePlaces[] = {0x7fe00000, 0x7f000000, 0x70000000, 0x60000000,
                                          0x38000000};
constexpr std::uint64_t kStates = 1024;
constexpr unsigned kFirstHighState = 17;
constexpr std::uint64_t kHighStates = 8;
std::uint64_t* g_table = nullptr;  // with windows two of them, one behind the other

std::uint64_t entries_of_tables() { return g_has_windows ? 2 * kTableEntries : kTableEntries; }
std::uint64_t table_bytes() { return entries_of_tables() * 8 + (kStates + kHighStates) * 2; }

std::uint64_t* table_of(Version version) {
  return g_has_windows && version == Version::streaming ? g_table + kTableEntries : g_table;
}

std::uint64_t& first_of_chain(const Trace& trace) {
  return table_of(trace.version)[trace.pc & 0xFFFF];
}

Slot* slot_of(const Index& index, std::uint64_t pc) {
  std::uint64_t at = (pc * 0x9E3779B97F4A7C15ull >> 32) & (index.capacity - 1);
  while (index.slots[at].pc != 0 && index.slots[at].pc != pc) at = (at + 1) & (index.capacity - 1);
  return &index.slots[at];
}

void grow(Index& index, std::uint64_t capacity) {
  const Index old = index;
  index.slots = static_cast<Slot*>(reserve(capacity * sizeof(Slot)));
  const std::uint64_t start = word(index.slots);
  if (&index == g_index || old.slots != nullptr)
    Ahead().go_up(start, start + capacity * sizeof(Slot), start + capacity * sizeof(Slot));
  index.capacity = capacity;
  for (std::uint64_t i = 0; i < old.capacity; ++i)
    if (old.slots[i].pc != 0) *slot_of(index, old.slots[i].pc) = old.slots[i];
  if (old.slots != nullptr) kernel(SYS_munmap, word(old.slots), old.capacity * sizeof(Slot));
}

std::uint16_t* low_states() {
  return reinterpret_cast<std::uint16_t*>(g_table + entries_of_tables());
}
std::uint16_t* high_states() { return low_states() + kStates; }

// Sums of the components' bytes, by a mask of those from `first` on, onto what states[0] is.
void fill_states(std::uint16_t* states, std::uint64_t count, unsigned first) {
  // Each component is asked for once: under a hypervisor cpuid takes microseconds.
  const std::uint64_t enabled = __builtin_ia32_xgetbv(0);
  const std::uint64_t without_any = xsave_bytes(0);
  for (std::uint64_t bit = 1; bit < count; bit *= 2) {
    const std::uint64_t more = xsave_bytes(bit << first & enabled) - without_any;
    for (std::uint64_t i = 0; i < bit; ++i)
      states[bit + i] = static_cast<std::uint16_t>(states[i] + more);
  }
}

void set_displacement(std::uint8_t* displacement, const std::uint8_t* target) {
  __atomic_store_n(reinterpret_cast<std::int32_t*>(displacement),
                   static_cast<std::int32_t>(target - (displacement + 4)), __ATOMIC_RELEASE);
}

// A jump that can be led anywhere, and behind it the way to the dispatcher, to which it leads
// first.
std::uint32_t make_landing(const Trace& trace) {
  constexpr std::uint32_t kBytes = 40;
  Emitter emit(take_cold(*trace.arena, kBytes));
  emit.align_patch(1);
  const std::uint32_t number = add_link({trace.pc, emit.at() + 1, trace.arena, false, false});
  emit.put(0xE9);
  emit.put_32(0);
  emit.store_context_value(CTX_EXIT_LINK, number);
  emit.jump_context(CTX_DISPATCH);
  return number;
}

// Replaces the first five bytes of a trace by a jump, in one store: others may be running it.
void divert(std::uint8_t* code, const std::uint8_t* target) {
  std::uint8_t bytes[8];
  std::memcpy(bytes, code, sizeof bytes);
  const auto distance = static_cast<std::int32_t>(target - (code + 5));
  bytes[0] = 0xE9;
  std::memcpy(bytes + 1, &distance, sizeof distance);
  std::uint64_t whole = 0;
  std::memcpy(&whole, bytes, sizeof whole);
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(code), whole, __ATOMIC_RELEASE);
}

}  // namespace

Lock& cache_lock() { return g_lock; }

void open_cache() {
  // Few at first: each page that is touched is a part of the start-up.
  constexpr std::uint64_t kFirstSlots = 4096;
  for (Index& index : g_index) grow(index, kFirstSlots);
  g_has_windows = has_windows();
  g_links = static_cast<Link*>(reserve(std::uint64_t{kMaxLinks} * sizeof(Link)));
  for (const std::uint64_t place : kTablePlaces) {
    const long memory =
        kernel(SYS_mmap, place, table_bytes(), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, ~0ull, 0);
    if (static_cast<std::uint64_t>(memory) != place) continue;
    g_table = reinterpret_cast<std::uint64_t*>(memory);
    break;
  }
  if (g_table == nullptr)
    stop(Message("no memory below 2 GiB is free for the engine's branch table"));
  for (std::uint64_t i = 0; i < entries_of_tables(); ++i) g_table[i] = word(&engine_indirect_miss);
}

std::uint32_t state_table() {
  std::uint16_t* states = low_states();
  if (states[0] == 0) {
    fill_states(high_states(), kHighStates, kFirstHighState);
    states[0] = static_cast<std::uint16_t>(xsave_bytes(0));
    fill_states(states, kStates, 0);
  }
  return static_cast<std::uint32_t>(word(states));
}

bool has_high_states() {
  state_table();
  return high_states()[kHighStates - 1] != 0;
}

std::uint32_t high_state_table() { return static_cast<std::uint32_t>(word(high_states())); }

std::uint32_t indirect_table(Version version) {
  return static_cast<std::uint32_t>(word(table_of(version)));
}

AddressRange table_range() {
  constexpr std::uint64_t kPage = 4096;
  return {word(g_table), (word(g_table) + table_bytes() + kPage - 1) & ~(kPage - 1)};
}

Trace* find_trace(std::uint64_t pc, Version version) {
  return slot_of(index_of(version), pc)->trace;
}

void add_trace(Trace* trace) {
  Index& index = index_of(trace->version);
  if (index.used * 2 >= index.capacity) grow(index, index.capacity * 2);
  Slot* slot = slot_of(index, trace->pc);
  if (slot->pc == 0) ++index.used;
  slot->pc = trace->pc;
  slot->trace = trace;
  if (slot->landing != 0) connect(g_links[slot->landing], *trace);
  Arena& arena = *trace->arena;
  arena.traces[arena.trace_count] = trace;
  __atomic_store_n(&arena.trace_count, arena.trace_count + 1, __ATOMIC_RELEASE);
}

const Trace* find_trace_at(std::uint64_t address) {
  const Arena* arena = arena_of(address);
  if (arena == nullptr) return nullptr;
  std::uint32_t low = 0;
  std::uint32_t high = __atomic_load_n(&arena->trace_count, __ATOMIC_ACQUIRE);
  while (low < high) {  // the first trace that starts behind the address
    const std::uint32_t middle = low + (high - low) / 2;
    if (word(arena->traces[middle]->code) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return nullptr;
  const Trace* trace = arena->traces[low - 1];
  return address < word(trace->code) + trace->code_size ? trace : nullptr;
}

std::uint32_t add_link(const Link& link) {
  if (g_link_count == kMaxLinks)
    stop(Message("the program has more branches than the engine can follow"));
  g_links_ahead.go_up(word(g_links + g_link_count), word(g_links + g_link_count + 1),
                      word(g_links + kMaxLinks));
  g_links[g_link_count] = link;
  return g_link_count++;
}

const Link& link_number(std::uint32_t number) { return g_links[number]; }

std::uint64_t poll_size() {
  constexpr std::uint64_t kStoreBytes = 9;
  return g_has_windows ? kStoreBytes : 0;
}

std::uint8_t* entry_with_poll(const Trace& trace) { return trace.code - poll_size(); }

void connect(const Link& link, const Trace& trace) {
  std::uint8_t* entry = link.polls ? entry_with_poll(trace) : trace.code;
  std::int64_t distance = entry - (link.displacement + 4);
  if (!fits_32(distance)) {
    std::uint8_t* veneer = take_cold(*link.arena, 16);
    Emitter(veneer).jump_far(word(entry));
    distance = veneer - (link.displacement + 4);
  }
  set_displacement(link.displacement, link.displacement + 4 + distance);
}

std::uint8_t* emit_indirect_entry(Trace& trace, std::uint8_t* at, bool falls_into_code) {
  const std::uint8_t* next = reinterpret_cast<const std::uint8_t*>(first_of_chain(trace));
  if (next == reinterpret_cast<const std::uint8_t*>(&engine_indirect_miss))
    next = trace.arena->miss;
  if (!fits_32(next - at)) {
    std::uint8_t* veneer = take_cold(*trace.arena, 16);
    Emitter(veneer).jump_far(word(next));
    next = veneer;
  }
  trace.indirect_entry = at;
  Emitter emit(at);
  emit.load_value(kRcx, 0 - trace.pc);
  emit.put(0x48, 0x8D, 0x0C, 0x01);  // lea rcx, [rcx + rax]
  emit.put(0xE3, 0x05);              // jrcxz past the next
  emit.jump(next);
  emit.load_context(kRcx, CTX_SPILL1);
  emit.load_context(kRax, CTX_SPILL0);
  if (!falls_into_code) emit.jump(entry_with_poll(trace));
  return emit.at();
}

void enter_in_table(Trace& trace) {
  __atomic_store_n(&first_of_chain(trace), word(trace.indirect_entry), __ATOMIC_RELEASE);
}

void open_indirect(Trace& trace) {
  if (trace.indirect_entry != nullptr) return;
  emit_indirect_entry(trace, take_cold(*trace.arena, 64), false);
  enter_in_table(trace);
}

void renew_traces() {
  for (const Index& index : g_index)
    for (std::uint64_t i = 0; i < index.capacity; ++i) index.slots[i].trace = nullptr;
  for (std::uint64_t i = 0; i < entries_of_tables(); ++i)
    __atomic_store_n(&g_table[i], word(&engine_indirect_miss), __ATOMIC_RELEASE);
}

void forget_trace(Trace& trace) {
  if (!trace.live) return;
  trace.live = false;
  Slot* slot = slot_of(index_of(trace.version), trace.pc);
  if (slot->trace == &trace) slot->trace = nullptr;
  // Whoever still comes here goes to the landing of this pc, which leads to the trace that is there
  // then. All that were ever forgotten share it: else each would lead to the next, and the last
  // would be as many jumps away as there were.
  if (slot->landing == 0) slot->landing = make_landing(trace);
  const Link& landing = g_links[slot->landing];
  set_displacement(landing.displacement, landing.displacement + 4);
  std::uint8_t* way = landing.displacement - 1;
  if (!fits_32(way - trace.code)) {
    std::uint8_t* veneer = take_cold(*trace.arena, 16);
    Emitter(veneer).jump_far(word(way));
    way = veneer;
  }
  divert(trace.code, way);
}

}  // namespace loft::engine::runtime
