#include "engine/runtime/record.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <time.h>

#include <cstring>
#include <initializer_list>

#include "engine/runtime/calls.hpp"
#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/mark.hpp"
#include "engine/runtime/stop.hpp"
#include "engine/runtime/window.hpp"

namespace loft::engine::runtime {
namespace {

std::uint8_t* g_tables = nullptr;
std::uint32_t g_image = 0;
Ahead g_code_ahead;
Ahead g_blocks_ahead;

template <typename T>
T* table(std::uint64_t offset) {
  return reinterpret_cast<T*>(g_tables + offset);
}

void copy_path(char* to, const char* from) {
  std::size_t size = std::strlen(from);
  if (size >= kMaxPath) size = kMaxPath - 1;
  std::memcpy(to, from, size);
}

}  // namespace

SharedHeader* shared_header() { return reinterpret_cast<SharedHeader*>(g_tables); }

void open_record(const char* program) {
  const long memory = map_own(Own::memory, word(reserve(kTablesEnd)), kTablesEnd, 0);
  if (is_error(memory))
    stop(Message(
        "the engine was started without the memory of a run; use loft stat --source virtual"));
  const auto* header = reinterpret_cast<const SharedHeader*>(memory);
  if (header->magic != kSharedMagic) stop(Message("the engine is of another version than loft"));
  g_tables = reinterpret_cast<std::uint8_t*>(memory);
  g_image = shared_header()->images.fetch_add(1);
  if (g_image >= kMaxImages) stop(Message("more program images than the engine can record"));
  ImageEntry& image = table<ImageEntry>(kImagesOffset)[g_image];
  image.process = static_cast<std::uint32_t>(kernel(SYS_getpid));
  image.parent = static_cast<std::uint32_t>(kernel(SYS_getppid));
  copy_path(image.path, program);
}

std::uint32_t record_block(std::uint64_t address, std::uint32_t mapping, const std::uint8_t* bytes,
                           std::uint32_t size, std::uint32_t instructions, BlockKind kind) {
  const std::uint32_t number = shared_header()->blocks.fetch_add(1);
  const std::uint64_t code = shared_header()->code_bytes.fetch_add(size);
  if (number >= kMaxBlocks || code + size > kCodeLimit)
    stop(Message("the program has more code than the engine can record, at ").add_place(address));
  std::uint8_t* copy = table<std::uint8_t>(kCodeOffset) + code;
  g_code_ahead.go_up(word(copy), word(copy + size), word(g_tables + kEntriesOffset));
  std::memcpy(copy, bytes, size);
  BlockEntry& entry = table<BlockEntry>(kBlocksOffset)[number];
  g_blocks_ahead.go_up(word(&entry), word(&entry + 1), word(g_tables + kCodeOffset));
  entry.code_offset = code;
  entry.mapping = mapping;
  entry.size = size;
  entry.instructions = static_cast<std::uint16_t>(instructions);
  entry.kind = static_cast<std::uint16_t>(kind);
  __atomic_store_n(&entry.address, address, __ATOMIC_RELEASE);
  return number;
}

namespace {

std::uint32_t record_part(std::uint32_t block, BlockKind kind, std::uint32_t instruction,
                          std::uint32_t unit) {
  const std::uint32_t number = shared_header()->blocks.fetch_add(1);
  if (number >= kMaxBlocks) stop(Message("the program has more code than the engine can record"));
  BlockEntry& entry = table<BlockEntry>(kBlocksOffset)[number];
  entry.mapping = recorded_block(block).mapping;
  entry.next_fall = block;
  entry.size = unit;
  entry.instructions = static_cast<std::uint16_t>(instruction);
  entry.kind = static_cast<std::uint16_t>(kind);
  __atomic_store_n(&entry.address, recorded_block(block).address, __ATOMIC_RELEASE);
  return number;
}

}  // namespace

std::uint32_t record_units(std::uint32_t block, std::uint32_t instruction, std::uint32_t unit) {
  return record_part(block, BlockKind::units, instruction, unit);
}

namespace {

// Signals come again and again to the same places, over days. What one place needs is recorded once
// as long as this remembers it. One word per entry, so that threads need no lock: the new block's
// number, the block, and how many of its instructions (0 for an extra fall).
constexpr std::uint64_t kPlaces = 1u << 16;
constexpr unsigned kNumberShift = 39;
constexpr unsigned kBlockShift = 14;
static_assert(kMaxBlocks <= 1u << 25 && kMaxBlocks <= 1ull << (64 - kNumberShift));
std::uint64_t g_places[kPlaces];

template <class Record>
std::uint32_t record_once(std::uint32_t block, std::uint32_t instructions, Record&& record) {
  const std::uint64_t key = std::uint64_t{block} << kBlockShift | instructions;
  std::uint64_t* place = &g_places[(key * 0x9E3779B97F4A7C15ull >> 32) % kPlaces];
  const std::uint64_t known = __atomic_load_n(place, __ATOMIC_RELAXED);
  if ((known & ((1ull << kNumberShift) - 1)) == key && known != 0)
    return static_cast<std::uint32_t>(known >> kNumberShift);
  const std::uint32_t number = record();
  __atomic_store_n(place, std::uint64_t{number} << kNumberShift | key, __ATOMIC_RELAXED);
  return number;
}

}  // namespace

std::uint32_t record_extra_fall(std::uint32_t block) {
  return record_once(block, 0, [&] { return record_part(block, BlockKind::extra_fall, 0, 0); });
}

std::uint32_t record_head(std::uint32_t block, std::uint32_t instructions, std::uint32_t size) {
  return record_once(block, instructions, [&] {
    const BlockEntry& whole = recorded_block(block);
    return record_block(whole.address, whole.mapping, recorded_code(whole), size, instructions,
                        BlockKind::body);
  });
}

void record_fall(std::uint32_t block, std::uint32_t fall) {
  table<BlockEntry>(kBlocksOffset)[block].next_fall = fall;
}

std::uint32_t record_taken(std::uint32_t block) {
  const std::uint32_t number = record_part(block, BlockKind::taken, 0, block);
  record_fall(number, kNoBlock);
  record_fall(block, number);
  return number;
}

const BlockEntry& recorded_block(std::uint32_t block) {
  return table<BlockEntry>(kBlocksOffset)[block];
}

const std::uint8_t* recorded_code(const BlockEntry& block) {
  return table<std::uint8_t>(kCodeOffset) + block.code_offset;
}

bool is_recorded_process(std::uint32_t process) {
  std::uint32_t count = shared_header()->slots.load();
  if (count > kMaxSlots) count = kMaxSlots;
  const SlotEntry* slots = table<SlotEntry>(kSlotsOffset);
  for (std::uint32_t i = 0; i < count && process != 0; ++i)
    if (slots[i].process == process) return true;
  return false;
}

SlotEntry& slot_of(const Context* context) { return table<SlotEntry>(kSlotsOffset)[context->slot]; }

namespace {

// Names are loft's business: it says where in the new mapping watched functions start.
void await_answer(std::uint32_t mapping) {
  kernel(SYS_futex, word(&shared_header()->mappings), FUTEX_WAKE, 1);
  constexpr int kPatience = 600;
  for (int tries = 0; tries < kPatience; ++tries) {
    const std::uint32_t answered = shared_header()->answered.load();
    if (answered > mapping) return;
    const timespec tenth{0, 100000000};
    kernel(SYS_futex, word(&shared_header()->answered), FUTEX_WAIT, answered, word(&tenth));
  }
  stop(Message("loft did not say where the functions start"));
}

}  // namespace

std::uint32_t record_path(std::uint32_t parent, const char* name, std::uint32_t length) {
  auto* paths = table<PathEntry>(kPathsOffset);
  std::uint32_t known = shared_header()->paths.load();
  if (known > kMaxPaths) known = kMaxPaths;
  for (std::uint32_t i = 0; i < known; ++i)
    if (paths[i].parent == parent && paths[i].length == length &&
        std::memcmp(paths[i].name, name, length) == 0)
      return i + 1;
  const std::uint32_t number = shared_header()->paths.fetch_add(1);
  if (number >= kMaxPaths) {
    shared_header()->paths = kMaxPaths;
    return 0;
  }
  paths[number].parent = parent;
  std::memcpy(paths[number].name, name, length);
  __atomic_store_n(&paths[number].length, length, __ATOMIC_RELEASE);
  return number + 1;
}

const char* recorded_path(std::uint32_t path) {
  return table<PathEntry>(kPathsOffset)[path - 1].name;
}

const SlotEntry& recorded_slot(std::uint32_t slot) { return table<SlotEntry>(kSlotsOffset)[slot]; }

bool is_own_mapping(std::uint32_t mapping) {
  return mapping < kMaxMappings && table<MappingEntry>(kMappingsOffset)[mapping].image == g_image;
}

bool is_own_image(std::uint32_t image) { return image == g_image; }

bool has_region() { return shared_header()->has_region.load(std::memory_order_relaxed) != 0; }

std::uint32_t record_mapping(std::uint64_t start, std::uint64_t end, std::uint64_t file_offset,
                             const char* path) {
  const auto process = static_cast<std::uint32_t>(kernel(SYS_getpid));
  MappingEntry* entries = table<MappingEntry>(kMappingsOffset);
  // Compilers re-protect the same pages over and over. Only the last ones are looked through.
  constexpr std::uint32_t kLookedThrough = 64;
  const std::uint32_t known = shared_header()->mappings.load();
  for (std::uint32_t i = known; i > 0 && known - i < kLookedThrough; --i) {
    const MappingEntry& entry = entries[i - 1];
    if (entry.start == start && entry.end == end && entry.file_offset == file_offset &&
        entry.image == g_image && entry.process == process &&
        std::strncmp(entry.path, path, kMaxPath - 1) == 0)
      return i - 1;
  }
  const std::uint32_t number = shared_header()->mappings.fetch_add(1);
  if (number >= kMaxMappings) stop(Message("more mappings of code than the engine can record"));
  MappingEntry& entry = entries[number];
  entry.start = start;
  entry.file_offset = file_offset;
  entry.image = g_image;
  entry.process = process;
  copy_path(entry.path, path);
  __atomic_store_n(&entry.end, end, __ATOMIC_RELEASE);
  if (has_region() || has_calls()) await_answer(number);
  return number;
}

namespace {

std::uint64_t time_of(clockid_t clock) {
  timespec now{};
  kernel(SYS_clock_gettime, static_cast<std::uint64_t>(clock), word(&now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

void open_counters(Context* context) {
  const std::uint32_t slot = shared_header()->slots.fetch_add(1);
  if (slot >= kMaxSlots) stop(Message("more threads than the engine can record (65536 in a run)"));
  const long memory = map_own(Own::memory, word(context->counters()), kCountersPerSlot,
                              kCountersOffset + slot * kCountersPerSlot);
  if (is_error(memory))
    stop(Message("no address space is left for the counters of a thread (is ulimit -v set?)"));
  context->slot = slot;
  SlotEntry& entry = table<SlotEntry>(kSlotsOffset)[slot];
  entry.process = static_cast<std::uint32_t>(kernel(SYS_getpid));
  entry.image = g_image;
  entry.in_region = context->region_outside == 0 ? 1 : 0;
  entry.path = context->mark.path;
  entry.creator = context->creator;
  context->mark.visits = &entry.visits;
  entry.parent = static_cast<std::uint32_t>(kernel(SYS_getppid));
  entry.started_ns = time_of(CLOCK_MONOTONIC);
  kernel(SYS_prctl, 16 /* PR_GET_NAME */, word(entry.name));
  context->thread = static_cast<std::uint32_t>(kernel(SYS_gettid));
  start_version(context);
  open_calls(context);
  __atomic_store_n(&entry.thread, context->thread, __ATOMIC_RELEASE);
}

void name_slot(Context* context, const char* name) {
  std::size_t size = std::strlen(name);
  if (size >= sizeof SlotEntry::name) size = sizeof SlotEntry::name - 1;
  const auto name_one = [&](const Context& side) {
    if (side.mark.is_closed) return;
    SlotEntry& entry = slot_of(&side);
    std::memset(entry.name, 0, sizeof entry.name);
    std::memcpy(entry.name, name, size);
  };
  for_each_of_thread(context, name_one);
  if (context->region_other != nullptr) name_one(*context->region_other);
}

void close_slot(Context* context) {
  const std::uint64_t ended = time_of(CLOCK_MONOTONIC);
  const std::uint64_t cpu = time_of(CLOCK_THREAD_CPUTIME_ID);
  leave_window(context);
  const auto close_one = [&](const Context& side) {
    if (side.mark.is_closed) return;
    SlotEntry& entry = slot_of(&side);
    entry.ended_ns = ended;
    entry.cpu_ns = cpu;
    __atomic_store_n(&entry.ended, 1u, __ATOMIC_RELEASE);
  };
  for_each_of_thread(context, close_one);
  if (context->region_other != nullptr) close_one(*context->region_other);
}

}  // namespace loft::engine::runtime
