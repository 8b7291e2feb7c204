// Which memory of the program may be executed, and what file it is. Learnt from /proc/self/maps
// when code is first met there; forgotten when the program unmaps, remaps or re-protects it.
#pragma once

#include <cstdint>

#include "engine/layout.hpp"

namespace loft::engine::runtime {

struct Region {
  std::uint64_t start;
  std::uint64_t end;
  bool writable;  // code that can change under our feet
  bool live;
  std::uint32_t mapping;  // its number in the shared table
  // Shared memory may be mapped elsewhere, too, and be written there.
  bool shared;
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t offset_from_start;  // of the file, less `start`: the same for all parts of it
  char path[kMaxPath];
};

// The executable region around `pc`, or null when the program may not execute there.
const Region* find_region(std::uint64_t pc);

// The region around `pc` if it was found before, or null. Never asks the kernel.
const Region* known_region(std::uint64_t pc);

// Where else the byte of shared code at `address` can be written.
struct Alias {
  std::uint64_t address;
  bool executable;
};
constexpr std::uint32_t kMaxAliases = 4;
std::uint32_t find_aliases(const Region& region, std::uint64_t address, Alias* found);

// Whether the program may write to the address, as the kernel sees it.
bool is_writable(std::uint64_t address);
// Whether there is anything at the address.
bool is_mapped(std::uint64_t address);

// Forgets what regions have in the range; true when there was something.
bool forget_regions(std::uint64_t start, std::uint64_t end);

}  // namespace loft::engine::runtime
