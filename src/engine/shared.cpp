#include "engine/shared.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <utility>

#include "base/text.hpp"
#include "engine/call_layout.hpp"

namespace loft::engine {

Result<Shared> Shared::create() {
  // Not closed by exec: the engine finds it under its number, in every process of the run.
  Fd memory(::memfd_create("loft-counters", MFD_ALLOW_SEALING));
  if (!memory.is_open()) return failure_of_errno(errno, "create the counters of the virtual PMU");
  if (::ftruncate(memory.get(), static_cast<off_t>(kSharedBytes)) != 0)
    return failure_of_errno(errno, "size the counters of the virtual PMU");
  // The program has the descriptor, too: if it could cut the memory off, reading it would end loft.
  if (::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return failure_of_errno(errno, "seal the counters of the virtual PMU");
  void* tables = ::mmap(nullptr, kTablesEnd, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (tables == MAP_FAILED) return failure_of_errno(errno, "map the counters of the virtual PMU");
  Fd polls(::memfd_create("loft-windows", MFD_CLOEXEC));
  if (!polls.is_open() || ::ftruncate(polls.get(), static_cast<off_t>(polls_after(0))) != 0) {
    const int error = errno;
    ::munmap(tables, kTablesEnd);
    return failure_of_errno(error, "create the windows of the virtual PMU");
  }
  auto* header = new (tables) SharedHeader{};
  header->blocks = kFirstBlock;
  header->magic = kSharedMagic;
  return Shared(std::move(memory), std::move(polls), static_cast<std::uint8_t*>(tables));
}

Shared::Shared(Shared&& other) noexcept
    : memory_(std::move(other.memory_)),
      polls_(std::move(other.polls_)),
      lock_(std::move(other.lock_)),
      tables_(std::exchange(other.tables_, nullptr)),
      window_(other.window_),
      streams_(std::move(other.streams_)),
      frozen_(std::move(other.frozen_)),
      shown_(other.shown_.load()) {}

Shared& Shared::operator=(Shared&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(polls_, other.polls_);
  std::swap(lock_, other.lock_);
  std::swap(window_, other.window_);
  std::swap(tables_, other.tables_);
  std::swap(streams_, other.streams_);
  std::swap(frozen_, other.frozen_);
  shown_ = frozen_.get();
  other.shown_ = other.frozen_.get();
  return *this;
}

Shared::~Shared() {
  if (tables_ != nullptr) ::munmap(tables_, kTablesEnd);
}

SharedHeader& Shared::header() const { return *reinterpret_cast<SharedHeader*>(tables_); }

// The program can write all of this memory, so what it says is checked like any input.
std::uint32_t Shared::blocks() const { return std::min(header().blocks.load(), kMaxBlocks); }

BlockEntry Shared::block(std::uint32_t number) const {
  BlockEntry entry{};
  if (number < kMaxBlocks)
    std::memcpy(&entry, tables_ + kBlocksOffset + number * sizeof entry, sizeof entry);
  return entry;
}

std::span<const std::uint8_t> Shared::code(const BlockEntry& block) const {
  if (block.code_offset > kCodeLimit || block.size > kCodeLimit - block.code_offset) return {};
  return {tables_ + kCodeOffset + block.code_offset, block.size};
}

template <typename T>
std::vector<T> Shared::table(std::uint64_t offset, std::uint32_t count) const {
  std::vector<T> entries(count);
  if (count != 0) std::memcpy(entries.data(), tables_ + offset, count * sizeof(T));
  return entries;
}

std::vector<SlotEntry> Shared::slots() const {
  auto entries = table<SlotEntry>(kSlotsOffset, std::min(header().slots.load(), kMaxSlots));
  for (SlotEntry& entry : entries) entry.name[sizeof entry.name - 1] = '\0';
  return entries;
}

SlotEntry Shared::slot(std::uint32_t number) const {
  SlotEntry entry{};
  if (number < std::min(header().slots.load(), kMaxSlots))
    std::memcpy(&entry, tables_ + kSlotsOffset + number * sizeof entry, sizeof entry);
  entry.name[sizeof entry.name - 1] = '\0';
  return entry;
}

std::vector<ImageEntry> Shared::images() const {
  auto entries = table<ImageEntry>(kImagesOffset, std::min(header().images.load(), kMaxImages));
  for (ImageEntry& entry : entries) entry.path[kMaxPath - 1] = '\0';
  return entries;
}

std::vector<MappingEntry> Shared::mappings() const {
  auto entries =
      table<MappingEntry>(kMappingsOffset, std::min(header().mappings.load(), kMaxMappings));
  for (MappingEntry& entry : entries) entry.path[kMaxPath - 1] = '\0';
  return entries;
}

MappingEntry Shared::mapping(std::uint32_t number) const {
  MappingEntry entry{};
  if (number < std::min(header().mappings.load(), kMaxMappings))
    std::memcpy(&entry, tables_ + kMappingsOffset + number * sizeof entry, sizeof entry);
  entry.path[kMaxPath - 1] = '\0';
  return entry;
}

void Shared::ask_for_region() { header().has_region = 1; }

bool Shared::has_region() const { return header().has_region.load() != 0; }

std::uint32_t Shared::await_mapping(std::uint32_t known, Nanoseconds patience) const {
  const std::uint32_t now = header().mappings.load();
  if (now != known) return std::min(now, kMaxMappings);
  const timespec wait{patience.count() / 1'000'000'000, patience.count() % 1'000'000'000};
  ::syscall(SYS_futex, &header().mappings, FUTEX_WAIT, known, &wait, nullptr, 0);
  return std::min(header().mappings.load(), kMaxMappings);
}

void Shared::answer(std::uint32_t mapping, std::span<const FunctionStart> starts) {
  for (const FunctionStart& start : starts) {
    const std::uint32_t number = header().entries.load();
    if (number >= kMaxEntries) break;
    const FunctionEntry entry{start.address, mapping, start.function};
    std::memcpy(tables_ + kEntriesOffset + number * sizeof entry, &entry, sizeof entry);
    header().entries = number + 1;
  }
  header().answered = mapping + 1;
  ::syscall(SYS_futex, &header().answered, FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr,
            nullptr, 0);
}

std::uint32_t Shared::region_entries() const { return header().entries.load(); }

void Shared::ask_for_marks() { header().has_marks = 1; }

bool Shared::has_marks() const { return header().has_marks.load() != 0; }

std::vector<PathEntry> Shared::paths() const {
  auto entries = table<PathEntry>(kPathsOffset, std::min(header().paths.load(), kMaxPaths));
  for (PathEntry& entry : entries) entry.length = std::min(entry.length, kMaxMarkName);
  return entries;
}

std::uint32_t Shared::wrong_ends() const { return header().wrong_ends.load(); }

void Shared::ask_for_calls(const CallOrder& order) {
  header().calls = order;
  header().calls.is_given = 1;
}

void Shared::ask_for_stream(StreamMode mode) {
  header().stream_mode = static_cast<std::uint32_t>(mode);
}

void Shared::set_reader(bool is_there) {
  ReaderState state = is_there ? ReaderState::there : ReaderState::none;
  lock_ = Fd();
  if (is_there) {
    lock_ = Fd(::open(fmt::format("/proc/self/fd/{}", memory_.get()).c_str(), O_RDWR | O_CLOEXEC));
    struct flock first_byte {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1, .l_pid = 0
    };
    if (lock_.is_open() && ::fcntl(lock_.get(), F_OFD_SETLK, &first_byte) == 0)
      state = ReaderState::locked;
  }
  header().has_reader = static_cast<std::uint32_t>(state);
}

bool Shared::has_reader() const { return header().has_reader.load() != 0; }

// Threads that fault because of the truncation find the new number.
bool Shared::change_window() {
  if (window_ + 2 >= kMaxWindow) return false;
  header().window = ++window_;
  return ::ftruncate(polls_.get(), static_cast<off_t>(polls_after(window_))) == 0;
}

bool Shared::open_window(std::uint64_t bytes) {
  if (has_window()) return false;
  header().window_bytes = bytes;
  return change_window();
}

void Shared::close_window() {
  if (has_window()) static_cast<void>(change_window());
}

std::uint32_t Shared::joined() const { return header().joined.load(); }

std::uint32_t Shared::left() const { return header().left.load(); }

std::uint32_t Shared::await_stream(std::uint32_t known, Nanoseconds patience) const {
  const timespec wait{patience.count() / 1'000'000'000, patience.count() % 1'000'000'000};
  if (header().stream_calls.load() == known)
    ::syscall(SYS_futex, &header().stream_calls, FUTEX_WAIT, known, &wait, nullptr, 0);
  return header().stream_calls.load();
}

std::span<const std::byte> Shared::stream(std::uint32_t slot, std::uint64_t bytes) {
  if (slot >= kMaxSlots || bytes == 0) return {};
  constexpr std::size_t kMostMapped = 64;  // of threads that end others take the place
  auto place = streams_.find(slot);
  if (place == streams_.end()) {
    if (streams_.size() >= kMostMapped) streams_.clear();
    auto mapping = Mapping::shared(memory_, kStreamBytes, Mapping::Access::read,
                                   kStreamsOffset + slot * kStreamBytes);
    if (!mapping) return {};
    place = streams_.emplace(slot, std::move(*mapping)).first;
  }
  return place->second.bytes().first(std::min(bytes, kStreamBytes));
}

std::uint64_t Shared::unread_stream(std::uint32_t slot) const {
  const SlotEntry entry = this->slot(slot);
  std::uint64_t place = 0;
  const auto at = static_cast<off_t>(kCountersOffset + slot * kCountersPerSlot);
  if (::pread(memory_.get(), &place, sizeof place, at) != sizeof place) return 0;
  return place >= entry.stream_base && place - entry.stream_base <= kStreamBytes
             ? place - entry.stream_base
             : 0;
}

void Shared::release_stream(std::uint32_t slot) {
  auto* entry = reinterpret_cast<SlotEntry*>(tables_ + kSlotsOffset) + slot;
  __atomic_store_n(&entry->stream_full, 0u, __ATOMIC_RELEASE);
  ::syscall(SYS_futex, &entry->stream_full, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

Result<void> Shared::freeze() {
  auto frozen = std::make_unique<Frozen>();
  const std::uint32_t count = std::min(header().slots.load(), kMaxSlots);
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    LOFT_TRY(auto counts, read_counts(slot));
    frozen->push_back(std::move(counts));
  }
  frozen_ = std::move(frozen);
  shown_ = frozen_.get();
  return {};
}

Result<std::vector<BlockCount>> Shared::counts(std::uint32_t slot) const {
  const Frozen* frozen = shown_.load();
  if (frozen == nullptr) return read_counts(slot);
  return slot < frozen->size() ? (*frozen)[slot] : std::vector<BlockCount>();
}

Result<std::vector<BlockCount>> Shared::read_counts(std::uint32_t slot) const {
  LOFT_TRY(const auto counters, read_counters(slot));
  return derive_counts(counters);
}

// Blocks without a counter of their own ran as often as the one before them, less how often its
// branch was taken. They have higher numbers than both. While the thread runs, counters of a moment
// apart can make that less than nothing.
std::vector<BlockCount> Shared::derive_counts(std::span<const BlockCount> counters) const {
  const auto counter_of = [](std::span<const BlockCount> behind, std::uint32_t number) {
    const auto found = std::ranges::lower_bound(behind, number, {}, &BlockCount::block);
    return found != behind.end() && found->block == number ? found->count : 0;
  };
  std::vector<BlockCount> result;
  result.reserve(counters.size() * 2);
  std::map<std::uint32_t, std::uint64_t> derived;  // of blocks that are still to come
  while (!counters.empty() || !derived.empty()) {
    const bool is_derived =
        !derived.empty() && (counters.empty() || derived.begin()->first <= counters.front().block);
    const std::uint32_t number = is_derived ? derived.begin()->first : counters.front().block;
    std::uint64_t count = 0;
    if (is_derived) {
      count += derived.begin()->second;
      derived.erase(derived.begin());
    }
    if (!counters.empty() && counters.front().block == number) {
      count += counters.front().count;
      counters = counters.subspan(1);
    }
    const BlockEntry entry = block(number);
    const bool is_body = entry.kind == static_cast<std::uint16_t>(BlockKind::body);
    if (count == 0 || (is_body && static_cast<std::int64_t>(count) < 0)) continue;
    result.push_back({number, count});
    if (!is_body || entry.next_fall <= number) continue;
    const BlockEntry taken = block(entry.next_fall);
    if (taken.kind != static_cast<std::uint16_t>(BlockKind::taken) || taken.next_fall <= number)
      continue;
    derived[taken.next_fall] += count - counter_of(counters, entry.next_fall);
  }
  return result;
}

Result<std::vector<BlockCount>> Shared::read_counters(std::uint32_t slot) const {
  std::vector<BlockCount> result;
  if (slot >= kMaxSlots) return result;
  const auto base = static_cast<off_t>(kCountersOffset + slot * kCountersPerSlot);
  const off_t end = base + static_cast<off_t>(blocks() * sizeof(std::uint64_t));
  std::vector<std::uint64_t> values(65536);
  // Through read and not through a mapping: looking at a hole in a mapping would fill it.
  for (off_t at = base; at < end;) {
    at = ::lseek(memory_.get(), at, SEEK_DATA);
    if (at < 0 && errno == ENXIO) break;
    if (at < 0) return failure_of_errno(errno, "find the counters of a thread");
    if (at >= end) break;
    const auto bytes =
        std::min<std::size_t>(static_cast<std::size_t>(end - at), values.size() * sizeof values[0]);
    const ssize_t got = ::pread(memory_.get(), values.data(), bytes, at);
    if (got <= 0) return failure_of_errno(got < 0 ? errno : EIO, "read the counters of a thread");
    const auto first =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(at - base) / sizeof values[0]);
    for (std::uint32_t i = 0; i < static_cast<std::size_t>(got) / sizeof values[0]; ++i)
      if (values[i] != 0 && first + i >= kFirstBlock) result.push_back({first + i, values[i]});
    at += got;
  }
  return result;
}

std::vector<std::string> Shared::messages() const {
  const std::uint32_t size = std::min(header().message_bytes.load(), kMessageBytes);
  std::vector<std::string> lines;
  std::string line;
  for (std::uint32_t i = 0; i < size; ++i) {
    const char c = header().message[i];
    if (c != '\n' && c != '\0') {
      line += c;
    } else if (!line.empty()) {
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
      line.clear();
    }
  }
  return lines;
}

std::uint32_t Shared::refused() const { return header().refused.load(); }

}  // namespace loft::engine
