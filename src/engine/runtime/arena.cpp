#include "engine/runtime/arena.hpp"

#include <sys/mman.h>

#include <initializer_list>

#include "engine/runtime/emitter.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/stop.hpp"

extern "C" void engine_indirect_miss();

namespace loft::engine::runtime {
namespace {

constexpr std::uint64_t kArenaBytes = 64u << 20;
constexpr std::uint64_t kHugePage = 2u << 20;
constexpr std::uint64_t kRoomForTrace = 256u << 10;
constexpr std::uint64_t kUsualTrace = 1u << 10;
constexpr std::uint64_t kReach = 0x60000000;  // leaves half a GiB for the operands' own distance
constexpr std::uint32_t kMaxArenas = 256;
constexpr std::uint32_t kMaxTraces = kArenaBytes / 32;

Arena g_arenas[kMaxArenas];
std::uint32_t g_count = 0;

bool is_near(const Arena& arena, std::uint64_t pc) {
  const std::uint64_t start = word(arena.start);
  const std::uint64_t end = word(arena.end);
  return (pc < start ? end - pc : pc - start) < kReach;
}

long map_at(std::uint64_t address) {
  return kernel(SYS_mmap, address, kArenaBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, ~0ull, 0);
}

// Looks for a hole on both sides of `pc`, nearest first.
std::uint64_t find_place(std::uint64_t pc) {
  constexpr std::uint64_t kStep = 32u << 20;
  const std::uint64_t middle = pc & ~(kStep - 1);
  for (std::uint64_t distance = 2 * kStep; distance + kArenaBytes < kReach; distance += kStep) {
    for (const std::uint64_t place : {middle - distance - kArenaBytes, middle + distance}) {
      if (place > middle + kReach || place < 0x10000) continue;  // below zero
      const long memory = map_at(place);
      if (!is_error(memory) && static_cast<std::uint64_t>(memory) == place) return place;
      if (!is_error(memory)) kernel(SYS_munmap, static_cast<std::uint64_t>(memory), kArenaBytes);
    }
  }
  // Far away: operands relative to rip are then rewritten through a register.
  const long memory = kernel(SYS_mmap, 0, kArenaBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~0ull, 0);
  if (is_error(memory)) stop(Message("the engine has no memory left for code"));
  return static_cast<std::uint64_t>(memory);
}

Arena* open_arena(std::uint64_t pc) {
  if (g_count == kMaxArenas)
    stop(Message("the program's code is more than the engine's cache holds"));
  Arena& arena = g_arenas[g_count];
  arena.start = reinterpret_cast<std::uint8_t*>(find_place(pc));
  arena.end = arena.start + kArenaBytes;
  arena.cold = arena.end;
  arena.traces = static_cast<Trace**>(reserve(kMaxTraces * sizeof(Trace*)));
  // Large programs need several times their own pages here. Small ones stay below the first.
  kernel(SYS_madvise, word(arena.start) + kHugePage, kArenaBytes / 2, MADV_HUGEPAGE);
  arena.trace_count = 0;
  Emitter emit(arena.start);
  arena.miss = emit.at();
  emit.jump_far(word(&engine_indirect_miss));
  arena.hot = emit.at();
  __atomic_store_n(&g_count, g_count + 1, __ATOMIC_RELEASE);
  return &arena;
}

}  // namespace

Arena* arena_near(std::uint64_t pc) {
  for (std::uint32_t i = g_count; i-- > 0;) {
    Arena& arena = g_arenas[i];
    if (is_near(arena, pc) && arena.hot + kRoomForTrace < arena.cold &&
        arena.trace_count + 1 < kMaxTraces) {
      arena.hot_ahead.go_up(word(arena.hot), word(arena.hot) + kUsualTrace, word(arena.cold));
      return &arena;
    }
  }
  return open_arena(pc);
}

Arena* arena_of(std::uint64_t address) {
  const std::uint32_t count = __atomic_load_n(&g_count, __ATOMIC_ACQUIRE);
  for (std::uint32_t i = 0; i < count; ++i)
    if (address >= word(g_arenas[i].start) && address < word(g_arenas[i].end)) return &g_arenas[i];
  return nullptr;
}

const Arena* arena_number(std::uint32_t number) {
  return number < __atomic_load_n(&g_count, __ATOMIC_ACQUIRE) ? &g_arenas[number] : nullptr;
}

std::uint8_t* take_cold(Arena& arena, std::uint32_t bytes) {
  arena.cold -= (bytes + 7) & ~7u;
  arena.cold_ahead.go_down(word(arena.cold), word(arena.cold) + bytes, word(arena.hot));
  return arena.cold;
}

}  // namespace loft::engine::runtime
