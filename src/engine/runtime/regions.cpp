#include "engine/runtime/regions.hpp"

#include <cstring>

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/maps_file.hpp"
#include "engine/runtime/protect.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/stop.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint32_t kMaxRegions = 16384;

Region* g_regions = nullptr;
std::uint32_t g_count = 0;
Region* g_last = nullptr;

// One line of /proc/self/maps: "start-end rwxp offset dev inode   path".
struct MapsLine {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t offset;
  bool writable;
  bool executable;
  bool shared;
  std::uint64_t device;
  std::uint64_t inode;
  const char* path;
};

MapsLine parse_line(const char* text) {
  MapsLine line{};
  line.start = parse_hex(text);
  ++text;
  line.end = parse_hex(text);
  line.writable = text[2] == 'w';
  line.executable = text[3] == 'x';
  line.shared = text[4] == 's';
  text += 6;
  line.offset = parse_hex(text);
  line.device = parse_hex(++text) << 32;
  line.device |= parse_hex(++text);
  line.inode = parse_hex(++text);  // decimal, but all that matters is whether two are the same
  while (*text == ' ') ++text;
  line.path = text;
  return line;
}

Region* free_place() {
  if (g_regions == nullptr)
    g_regions = static_cast<Region*>(allocate(kMaxRegions * sizeof(Region)));
  for (std::uint32_t i = 0; i < g_count; ++i)
    if (!g_regions[i].live) return &g_regions[i];
  if (g_count == kMaxRegions)
    stop(Message("the program has more regions of code than the engine can follow"));
  return &g_regions[g_count++];
}

Region* add_region(std::uint64_t pc, const MapsLine& line) {
  Region* region = free_place();
  region->start = line.start;
  region->end = line.end;
  region->writable = line.writable || is_protected(pc);
  region->shared = line.shared;
  region->device = line.device;
  region->inode = line.inode;
  region->offset_from_start = line.offset - line.start;
  std::size_t size = std::strlen(line.path);
  if (size >= kMaxPath) size = kMaxPath - 1;
  std::memcpy(region->path, line.path, size);
  region->path[size] = '\0';
  region->live = true;
  region->mapping = record_mapping(line.start, line.end, line.offset, region->path);
  return region;
}

}  // namespace

const Region* known_region(std::uint64_t pc) {
  if (g_last != nullptr && g_last->live && pc >= g_last->start && pc < g_last->end) return g_last;
  for (std::uint32_t i = 0; i < g_count; ++i) {
    Region& region = g_regions[i];
    if (region.live && pc >= region.start && pc < region.end) return g_last = &region;
  }
  return nullptr;
}

const Region* find_region(std::uint64_t pc) {
  if (const Region* region = known_region(pc)) return region;
  Region* region = nullptr;
  for_each_map([&](const char* text, std::size_t) {
    const MapsLine line = parse_line(text);
    if (pc < line.start || pc >= line.end) return true;
    if (line.executable) region = add_region(pc, line);
    return false;
  });
  return region;
}

std::uint32_t find_aliases(const Region& region, std::uint64_t address, Alias* found) {
  const std::uint64_t offset = region.offset_from_start + address;
  std::uint32_t count = 0;
  for_each_map([&](const char* text, std::size_t) {
    const MapsLine line = parse_line(text);
    if (!line.shared || !line.writable || line.inode != region.inode ||
        line.device != region.device || offset < line.offset ||
        offset - line.offset >= line.end - line.start)
      return true;
    const std::uint64_t place = line.start + offset - line.offset;
    if (place != address) found[count++] = {place, line.executable};
    return count < kMaxAliases;
  });
  return count;
}

namespace {

// Calls look(line) for the mapping that holds the address, if one does.
template <class Look>
void find_mapping(std::uint64_t address, Look&& look) {
  for_each_map([&](const char* text, std::size_t) {
    const MapsLine line = parse_line(text);
    if (address < line.start || address >= line.end) return true;
    look(line);
    return false;
  });
}

}  // namespace

bool is_writable(std::uint64_t address) {
  bool writable = false;
  find_mapping(address, [&](const MapsLine& line) { writable = line.writable; });
  return writable;
}

bool is_mapped(std::uint64_t address) {
  bool mapped = false;
  find_mapping(address, [&](const MapsLine&) { mapped = true; });
  return mapped;
}

bool forget_regions(std::uint64_t start, std::uint64_t end) {
  bool any = false;
  const std::uint32_t count = g_count;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!g_regions[i].live || g_regions[i].end <= start || g_regions[i].start >= end) continue;
    any = true;
    const Region old = g_regions[i];
    g_regions[i].live = false;
    // What is left of it on either side stays known.
    if (old.start < start) {
      Region* left = free_place();
      *left = old;
      left->end = start;
    }
    if (old.end > end) {
      Region* right = free_place();
      *right = old;
      right->start = end;
    }
  }
  return any;
}

}  // namespace loft::engine::runtime
