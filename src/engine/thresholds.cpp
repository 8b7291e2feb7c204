#include "engine/thresholds.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace loft::engine {
namespace {

constexpr std::size_t kPage = 4096;
static_assert(kFirstBlock * sizeof(std::uint64_t) <= kPage);

// Afterwards all stores that other threads had made are visible, and they see ours. Where the
// kernel cannot promise that, a moment is more than any processor keeps a store back.
void see_all_stores() {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

Result<Thresholds> Thresholds::open(const Shared& shared, std::span<const EventRule> rules) {
  const std::string path = fmt::format("/proc/self/fd/{}", shared.descriptor());
  Fd memory(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct flock second_byte {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1, .l_pid = 0
  };
  if (!memory.is_open() || ::fcntl(memory.get(), F_OFD_SETLK, &second_byte) != 0)
    return failure_of_errno(errno, "watch the counters of the virtual PMU");
  LOFT_TRY(auto tables, Mapping::shared(memory, kImagesOffset, Mapping::Access::read_write));
  Thresholds thresholds(std::move(memory), std::move(tables));
  SharedHeader& header = thresholds.header();
  const std::size_t count = std::min<std::size_t>(rules.size(), kMaxThresholds);
  std::copy_n(rules.begin(), count, header.threshold);
  header.has_keeper = 1;
  header.thresholds = static_cast<std::uint32_t>(count);
  return thresholds;
}

void Thresholds::close() {
  header().has_keeper = 0;
  for (std::uint32_t i = 0; i < slots(); ++i) {
    if (!waits(i)) continue;
    for (std::uint32_t t = 0; t < kMaxThresholds; ++t) grant(i, t, kFarthest);
    let_go(i, 0);
  }
}

SharedHeader& Thresholds::header() const {
  return *reinterpret_cast<SharedHeader*>(const_cast<std::byte*>(tables_.bytes().data()));
}

SlotEntry& Thresholds::slot(std::uint32_t number) const {
  auto* tables = const_cast<std::byte*>(tables_.bytes().data());
  return reinterpret_cast<SlotEntry*>(tables + kSlotsOffset)[std::min(number, kMaxSlots - 1)];
}

std::uint32_t Thresholds::await(std::uint32_t known, Nanoseconds patience) const {
  const timespec wait{patience.count() / 1'000'000'000, patience.count() % 1'000'000'000};
  if (header().threshold_calls.load() == known)
    ::syscall(SYS_futex, &header().threshold_calls, FUTEX_WAIT, known, &wait, nullptr, 0);
  return header().threshold_calls.load();
}

std::uint32_t Thresholds::slots() const { return std::min(header().slots.load(), kMaxSlots); }

bool Thresholds::waits(std::uint32_t number) const {
  return __atomic_load_n(&slot(number).threshold_call, __ATOMIC_ACQUIRE) != 0;
}

bool Thresholds::has_ended(std::uint32_t number) const {
  return __atomic_load_n(&slot(number).ended, __ATOMIC_ACQUIRE) != 0;
}

bool Thresholds::is_in_region(std::uint32_t number) const {
  return header().has_region.load() == 0 || slot(number).in_region != 0;
}

std::int64_t* Thresholds::distance(std::uint32_t number, std::uint32_t threshold) {
  auto found = distances_.find(number);
  if (found == distances_.end()) {
    auto page = Mapping::shared(memory_, kPage, Mapping::Access::read_write,
                                kCountersOffset + number * kCountersPerSlot);
    if (!page) return nullptr;
    found = distances_.emplace(number, std::move(*page)).first;
  }
  auto* first = reinterpret_cast<std::int64_t*>(found->second.writable_bytes().data());
  return first + kFirstDistance + std::min(threshold, kMaxThresholds - 1);
}

std::uint64_t Thresholds::left(std::uint32_t number, std::uint32_t threshold) {
  if (has_ended(number)) {
    distances_.erase(number);
    return 0;
  }
  const std::int64_t* place = distance(number, threshold);
  const std::int64_t value = place == nullptr ? 0 : __atomic_load_n(place, __ATOMIC_ACQUIRE);
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : 0;
}

// A thread adds to its distance without a lock, so that our store may be lost: then it is made
// again.
void Thresholds::take_back(std::uint32_t threshold) {
  for (bool any = true; any;) {
    any = false;
    for (std::uint32_t i = 0; i < slots(); ++i) {
      if (left(i, threshold) == 0) continue;
      __atomic_store_n(distance(i, threshold), 0, __ATOMIC_SEQ_CST);
      any = true;
    }
    if (any) see_all_stores();
  }
}

void Thresholds::grant(std::uint32_t number, std::uint32_t threshold, std::uint64_t amount) {
  const auto bounded = static_cast<std::int64_t>(std::min<std::uint64_t>(amount, kFarthest));
  if (std::int64_t* place = distance(number, threshold))
    __atomic_store_n(place, -bounded, __ATOMIC_SEQ_CST);
}

void Thresholds::let_go(std::uint32_t number, int signal) {
  SlotEntry& entry = slot(number);
  entry.threshold_signal = static_cast<std::uint32_t>(signal);
  __atomic_store_n(&entry.threshold_call, 0u, __ATOMIC_RELEASE);
  ::syscall(SYS_futex, &entry.threshold_call, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace loft::engine
