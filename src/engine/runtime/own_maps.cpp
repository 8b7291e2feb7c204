#include "engine/runtime/own_maps.hpp"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "engine/runtime/arena.hpp"
#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/maps_file.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint32_t kMaxOwn = 64;
AddressRange g_own[kMaxOwn];  // the engine's executable and libraries, and what they had mapped
std::uint32_t g_count = 0;

// The kernel's own: the stack, the heap, the vdso, which are the program's now.
bool is_named_by_kernel(const char* line, std::size_t size) {
  return size != 0 && line[size - 1] == ']';
}

void meet(std::uint64_t start, std::uint64_t end, const AddressRange& own, AddressRange& first) {
  if (own.end <= start || own.start >= end || own.start >= first.start) return;
  first = {own.start < start ? start : own.start, own.end > end ? end : own.end};
}

bool is_own(std::uint64_t start) {
  AddressRange ignored{};
  return find_own_range(start, start + 1, ignored);
}

bool is_own_name(const char* name) {
  std::uint64_t number = 0;
  if (*name < '0' || *name > '9') return false;
  for (; *name >= '0' && *name <= '9'; ++name)
    number = number * 10 + static_cast<std::uint64_t>(*name - '0');
  return *name == '\0' && is_own_descriptor(number);
}

// Field number `wanted` of /proc/self/stat.
std::uint64_t field_of(const char* text, int wanted) {
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < wanted; ++field) at = std::strchr(at + 1, ' ');
  std::uint64_t value = 0;
  if (at != nullptr)
    for (++at; *at >= '0' && *at <= '9'; ++at)
      value = value * 10 + static_cast<std::uint64_t>(*at - '0');
  return value;
}

}  // namespace

void remember_own_maps() {
  for_each_map([](const char* line, std::size_t size) {
    if (is_named_by_kernel(line, size)) return true;
    AddressRange& own = g_own[g_count++];
    own.start = parse_hex(line);
    own.end = parse_hex(++line);
    return g_count < kMaxOwn;
  });
}

bool find_own_range(std::uint64_t start, std::uint64_t end, AddressRange& found) {
  constexpr std::uint64_t kNone = ~0ull;
  AddressRange first{kNone, kNone};
  meet(start, end, reserved_range(), first);
  meet(start, end, table_range(), first);
  for (std::uint32_t i = 0; i < g_count; ++i) meet(start, end, g_own[i], first);
  for (std::uint32_t i = 0; const Arena* arena = arena_number(i); ++i)
    meet(start, end, {word(arena->start), word(arena->end)}, first);
  found = first;
  return first.start != kNone;
}

void show_arguments(const char* first_argument, const char* variables_end,
                    const Elf64_auxv_t* auxiliary) {
  char text[1024] = {};
  const long file = kernel(SYS_open, word("/proc/self/stat"), O_RDONLY | O_CLOEXEC);
  if (is_error(file)) return;
  kernel(SYS_read, static_cast<std::uint64_t>(file), word(text), sizeof text - 1);
  kernel(SYS_close, static_cast<std::uint64_t>(file));
  std::uint32_t count = 1;
  while (auxiliary[count - 1].a_type != AT_NULL) ++count;
  prctl_mm_map map{};
  map.start_code = field_of(text, 26);
  map.end_code = field_of(text, 27);
  map.start_data = field_of(text, 45);
  map.end_data = field_of(text, 46);
  map.start_brk = field_of(text, 47);
  map.brk = static_cast<std::uint64_t>(kernel(SYS_brk, 0));
  map.start_stack = field_of(text, 28);
  map.arg_start = word(first_argument);
  map.arg_end = field_of(text, 49);
  map.env_start = field_of(text, 50);
  map.env_end = variables_end == nullptr ? field_of(text, 51) : word(variables_end);
  map.auxv = reinterpret_cast<__u64*>(const_cast<Elf64_auxv_t*>(auxiliary));
  map.auxv_size = static_cast<std::uint32_t>(count * sizeof(Elf64_auxv_t));
  map.exe_fd = ~0u;
  kernel(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, word(&map), sizeof map, 0);
}

long lock_program(std::uint64_t flags) {
  constexpr std::uint64_t kKnown = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT;
  if (flags == 0 || flags == MCL_ONFAULT || (flags & ~kKnown) != 0) return -EINVAL;
  if ((flags & MCL_CURRENT) == 0) return 0;
  const std::uint64_t how = (flags & MCL_ONFAULT) != 0 ? MLOCK_ONFAULT : 0;
  long result = 0;
  for_each_map([&](const char* line, std::size_t) {
    const std::uint64_t start = parse_hex(line);
    const std::uint64_t end = parse_hex(++line);
    // Other errors are about single mappings, which mlockall passes over.
    if (!is_own(start) && kernel(SYS_mlock2, start, end - start, how) == -EPERM) result = -EPERM;
    return result == 0;
  });
  return result;
}

bool lists_descriptors(std::uint64_t directory) {
  Message link("/proc/self/fd/");
  link.add_number(directory);
  char path[64] = {};
  if (kernel(SYS_readlink, word(link.text()), word(path), sizeof path - 1) <= 0) return false;
  if (std::strncmp(path, "/proc/", 6) != 0) return false;
  const char* last = std::strrchr(path, '/');
  if (std::strcmp(last, "/fd") != 0 && std::strcmp(last, "/fdinfo") != 0) return false;
  return is_recorded_process(static_cast<std::uint32_t>(std::atoi(path + 6)));
}

long list_descriptors(std::uint64_t directory, std::uint64_t buffer, std::uint64_t bytes) {
  // linux_dirent64: the length of an entry, and its name
  constexpr std::uint64_t kLength = 16;
  constexpr std::uint64_t kName = 19;
  long left = 0;
  bool is_cut = true;
  while (is_cut && left == 0) {  // nothing left would be the end of the list
    left = kernel(SYS_getdents64, directory, buffer, bytes);
    is_cut = false;
    auto* entry = reinterpret_cast<std::uint8_t*>(buffer);
    for (long rest = left; rest > 0;) {
      std::uint16_t length = 0;
      std::memcpy(&length, entry + kLength, sizeof length);
      rest -= length;
      if (!is_own_name(reinterpret_cast<const char*>(entry + kName))) {
        entry += length;
        continue;
      }
      std::memmove(entry, entry + length, static_cast<std::size_t>(rest));
      left -= length;
      is_cut = true;
    }
  }
  return left;
}

long open_maps(std::uint64_t flags) {
  const long file =
      kernel(SYS_memfd_create, word("maps"), (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (is_error(file)) return file;
  const auto descriptor = static_cast<std::uint64_t>(file);
  for_each_map([&](const char* line, std::size_t size) {
    const char* start = line;
    if (!is_own(parse_hex(start))) {
      kernel(SYS_write, descriptor, word(line), size);
      kernel(SYS_write, descriptor, word("\n"), 1);
    }
    return true;
  });
  kernel(SYS_lseek, descriptor, 0, SEEK_SET);
  return file;
}

}  // namespace loft::engine::runtime
