#include "machine/buffer.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::machine {
namespace {

constexpr std::size_t kHugePage = 2u << 20;

// The number of a "Name:   1234 kB" line, in bytes; 0 when there is none.
std::size_t kilobytes_after(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == std::string_view::npos) return 0;
  std::string_view rest = trim(text.substr(at + name.size()));
  return static_cast<std::size_t>(parse_u64(rest.substr(0, rest.find(' '))).value_or(0)) << 10;
}

// Small, quick and the same on every machine: the order of a ring should not differ by library.
class Random {
 public:
  std::uint64_t below(std::uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % bound;
  }

 private:
  std::uint64_t state_ = 0x2545F4914F6CDD1D;
};

// Sattolo's shuffle: one cycle through all of them, never several short ones.
std::vector<std::uint32_t> one_cycle(std::size_t nodes) {
  std::vector<std::uint32_t> order(nodes);
  std::iota(order.begin(), order.end(), 0u);
  Random random;
  for (std::size_t i = nodes - 1; i > 0; --i) std::swap(order[i], order[random.below(i)]);
  return order;
}

// A shuffle of many nodes takes longer than the measurement. A congruential sequence visits them in
// an order that no prefetcher guesses either, and its links are written front to back. It has its
// full period when the count has no prime factors but 2 and 3, the multiplier is 1 modulo 12, and
// the increment has neither factor.
constexpr std::size_t kMostShuffled = 1u << 16;
constexpr std::size_t kMultiplier = 12 * std::size_t{0x2F0B4C47} + 1;
constexpr std::size_t kIncrement = 0x5BD1E995;

// The largest power of two, or three times one, that is not above `nodes`.
std::size_t round_ring(std::size_t nodes) {
  const std::size_t power = std::bit_floor(nodes);
  return power + power / 2 <= nodes ? power + power / 2 : power;
}

}  // namespace

Result<Buffer> Buffer::allocate(std::size_t size, Pages pages) {
  Buffer buffer;
  buffer.mapped_ = (size + kHugePage - 1) / kHugePage * kHugePage + kHugePage;
  void* mapping = ::mmap(nullptr, buffer.mapped_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return failure_of_errno(errno, "get " + std::to_string(size >> 10) + " KiB to measure with",
                            "free some memory, or raise the limit (ulimit -v)");
  buffer.mapping_ = mapping;
  const auto address = reinterpret_cast<std::uintptr_t>(mapping);
  buffer.start_ = static_cast<std::byte*>(mapping) + (kHugePage - address % kHugePage) % kHugePage;
  buffer.size_ = size;
  // A wish only: huge_share() tells whether it was granted.
  ::madvise(mapping, buffer.mapped_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      start_(std::exchange(other.start_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(start_, other.start_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_);
}

void Buffer::touch() {
  auto* numbers = reinterpret_cast<double*>(start_);
  std::fill(numbers, numbers + size_ / sizeof(double), 1.25);
}

void Buffer::link_ring(std::size_t nodes, std::size_t stride, bool spread) {
  const std::size_t places = spread ? stride / kLine : 1;
  const auto address = [&](std::size_t node) {
    return start_ + node * stride + node * 7 % places * kLine;
  };
  const auto link = [&](std::size_t node, std::size_t next) {
    const std::byte* there = address(next);
    std::memcpy(address(node), &there, sizeof there);
  };
  if (nodes > kMostShuffled) {
    const std::size_t count = round_ring(nodes);
    for (std::size_t i = 0; i < count; ++i) link(i, (i * kMultiplier + kIncrement) % count);
    return;
  }
  const std::vector<std::uint32_t> order = one_cycle(nodes);
  for (std::size_t i = 0; i < nodes; ++i) link(i, order[i]);
}

// The kernel joins and cuts mappings as it likes: the one that holds our first byte is the one.
double Buffer::huge_share() const {
  const auto maps = read_file("/proc/self/smaps");
  if (!maps) return 0;
  const auto first = reinterpret_cast<std::uintptr_t>(start_);
  bool inside = false;
  for (const std::string_view line : split(*maps, '\n')) {
    const std::string_view range = line.substr(0, line.find(' '));
    const auto dash = range.find('-');
    if (dash != std::string_view::npos && !range.ends_with(':')) {
      const auto from = parse_hex(range.substr(0, dash));
      const auto to = parse_hex(range.substr(dash + 1));
      if (from && to) inside = first >= *from && first < *to;
    } else if (inside && line.starts_with("AnonHugePages:")) {
      const auto huge = static_cast<double>(kilobytes_after(line, "AnonHugePages:"));
      return std::min(1.0, huge / static_cast<double>(size_));
    }
  }
  return 0;
}

std::size_t memory_allowance(const SystemRoot& root) {
  std::size_t allowance = 64u << 20;
  if (const auto text = read_file(root.at("/proc/meminfo")))
    if (const std::size_t available = kilobytes_after(*text, "MemAvailable:"))
      allowance = available / 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    allowance = std::min<std::size_t>(allowance, limit.rlim_cur / 4);
  if (const auto line = read_line(root.at("/sys/fs/cgroup/memory.max")))
    if (const auto most = parse_u64(*line)) allowance = std::min<std::size_t>(allowance, *most / 4);
  return allowance;
}

}  // namespace loft::machine
