#ifdef LOFT_HAS_ENGINE

#include "source/calls/arena.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log_linear.hpp"

namespace loft::source::calls {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kNoCall = ~std::uint32_t{0};
constexpr std::uint64_t kLargestSize = LOFT_CALLS_LARGEST_COUNT * LOFT_CALLS_KEPT_SIZE;

static_assert(kLogLinearSteps == LOFT_CALLS_STEP_COUNT);
static_assert(sizeof(loft_calls_kept) == LOFT_CALLS_KEPT_SIZE);

std::uint64_t rounded(std::uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

// A file without a name that the program makes, since what loft makes it may not be able to open.
// The program does not keep it open.
Result<Fd> make_file(const Tracee& thread, std::uint64_t instruction, pid_t pid,
                     std::uint64_t& number) {
  LOFT_TRY(const user_regs_struct registers, thread.registers());
  LOFT_TRY(const Memory memory, Memory::open(pid));
  // Below the red zone of a thread that stands still nobody has anything.
  const std::uint64_t name_at = (registers.rsp - 256) & ~std::uint64_t{15};
  constexpr char kName[] = "loft-calls";
  LOFT_CHECK(memory.write(name_at, std::as_bytes(std::span(kName))));
  LOFT_TRY(number, thread.system_call(instruction, SYS_memfd_create,
                                      {name_at, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0}));
  Fd fd(::open(fmt::format("/proc/{}/fd/{}", pid, number).c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.is_open()) return failure_of_errno(errno, "open the memory shared with the program");
  return fd;
}

}  // namespace

std::uint32_t Arena::offset_of_sums(std::uint32_t function) {
  return LOFT_CALLS_SUMS + function * LOFT_CALLS_SUMS_SIZE;
}

std::uint64_t Arena::steps_at() const {
  return LOFT_CALLS_SUMS + std::uint64_t{options_.functions} * LOFT_CALLS_SUMS_SIZE;
}

std::uint64_t Arena::largest_at() const {
  return steps_at() + std::uint64_t{options_.functions} * LOFT_CALLS_HISTOGRAM_SIZE;
}

std::uint64_t Arena::nodes_at() const {
  return rounded(largest_at() + std::uint64_t{options_.functions} * kLargestSize);
}

std::uint64_t Arena::ring_at() const {
  return nodes_at() + std::uint64_t{LOFT_CALLS_NODE_COUNT} * LOFT_CALLS_NODE_SIZE;
}

Result<std::shared_ptr<Arena>> Arena::create(const Tracee& thread, std::uint64_t instruction,
                                             pid_t pid, const ArenaOptions& options) {
  std::shared_ptr<Arena> arena(new Arena());
  arena->options_ = options;
  arena->context_size_ =
      rounded(arena->ring_at() + std::uint64_t{options.kept_calls} * LOFT_CALLS_KEPT_SIZE);
  std::uint64_t number = 0;
  LOFT_TRY(arena->fd_, make_file(thread, instruction, pid, number));
  LOFT_CHECK(arena->map(thread, instruction, number));
  LOFT_CHECK(thread.system_call(instruction, SYS_close, {number, 0, 0, 0, 0, 0}));
  LOFT_CHECK(thread.system_call(instruction, SYS_madvise,
                                {arena->address_, arena->size_, MADV_DONTDUMP, 0, 0, 0}));
  if (::ftruncate(arena->fd_.get(), static_cast<off_t>(arena->size_)) != 0 ||
      ::fcntl(arena->fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return failure_of_errno(errno, "size the memory shared with the program");
  LOFT_TRY(arena->mapping_, Mapping::shared(arena->fd_, static_cast<std::size_t>(arena->size_),
                                            Mapping::Access::read_write));
  arena->used_.resize(arena->options_.contexts);
  arena->used_[kCommon] = true;
  arena->prepare(kCommon);
  return arena;
}

// For as many threads as are asked for, or as few as the program may still map.
Result<void> Arena::map(const Tracee& thread, std::uint64_t instruction, std::uint64_t number) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;
  constexpr std::uint32_t kFewest = 4;
  options_.contexts = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      kMostBytes / context_size_, kFewest, std::max(options_.contexts, kFewest)));
  for (;;) {
    size_ = context_size_ * options_.contexts;
    auto address = thread.system_call(
        instruction, SYS_mmap,
        {0, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, number, 0});
    if (address) {
      address_ = *address;
      return {};
    }
    if (options_.contexts == kFewest) return tl::make_unexpected(address.error());
    options_.contexts = std::max(options_.contexts / 8, kFewest);
  }
}

std::byte* Arena::at(std::uint32_t context, std::uint64_t offset) const {
  return mapping_.writable_bytes().data() + context * context_size_ + offset;
}

std::uint64_t Arena::address_of(std::uint32_t context) const {
  return address_ + context * context_size_;
}

std::optional<std::uint32_t> Arena::open_context() {
  const auto free = std::find(used_.begin(), used_.end(), false);
  if (free == used_.end()) return std::nullopt;
  *free = true;
  const auto context = static_cast<std::uint32_t>(free - used_.begin());
  prepare(context);
  return context;
}

void Arena::prepare(std::uint32_t context) {
  const std::uint64_t base = address_of(context);
  loft_calls_context head{};
  head.self = base;
  head.top = base + LOFT_CALLS_FRAMES;
  if (context != kCommon)
    head.limit = head.top + (LOFT_CALLS_FRAME_COUNT - 1) * LOFT_CALLS_FRAME_SIZE;
  head.steps = base + steps_at();
  head.nodes = base + nodes_at();
  head.largest = base + largest_at();
  head.ring = options_.kept_calls == 0 ? 0 : base + ring_at();
  head.room = options_.kept_calls;
  head.longer = options_.longer;
  head.depth = options_.depth == 0 ? ~std::uint64_t{0} : options_.depth;
  std::memcpy(at(context, 0), &head, sizeof head);
}

std::vector<OpenCall> Arena::open_calls(std::uint32_t context) const {
  std::vector<OpenCall> calls;
  std::uint64_t top = 0;
  std::memcpy(&top, at(context, LOFT_CALLS_TOP), sizeof top);
  const std::uint64_t count =
      (top - address_of(context) - LOFT_CALLS_FRAMES) / LOFT_CALLS_FRAME_SIZE;
  if (count >= LOFT_CALLS_FRAME_COUNT) return calls;
  for (std::uint64_t i = 1; i <= count; ++i) {
    loft_calls_frame frame;
    std::memcpy(&frame, at(context, LOFT_CALLS_FRAMES + i * LOFT_CALLS_FRAME_SIZE), sizeof frame);
    const std::uint32_t function = (frame.function - LOFT_CALLS_SUMS) / LOFT_CALLS_SUMS_SIZE;
    if (frame.function < LOFT_CALLS_SUMS || function >= options_.functions) continue;
    calls.push_back({function, frame.start, frame.child, frame.node});
  }
  return calls;
}

std::vector<loft_calls_sums> Arena::all_sums(std::uint32_t context, std::uint32_t functions) const {
  std::vector<loft_calls_sums> all(std::min(functions, options_.functions));
  // Read, not looked at: a page that nobody has written would be made by looking at it.
  const auto offset = static_cast<off_t>(context * context_size_ + LOFT_CALLS_SUMS);
  const ssize_t got = ::pread(fd_.get(), all.data(), all.size() * sizeof(loft_calls_sums), offset);
  all.resize(got < 0 ? 0 : static_cast<std::size_t>(got) / sizeof(loft_calls_sums));
  return all;
}

sample::CallStatistics Arena::statistics(std::uint32_t context, std::uint32_t function,
                                         const loft_calls_sums& sums) const {
  sample::CallStatistics result;
  result.calls = sums.calls;
  result.open = sums.open;
  result.ended_early = sums.ended_early;
  result.unmeasured = sums.unmeasured;
  sample::CallDistribution& time = result.of.emplace_back();
  if (sums.calls == 0) return result;
  time.calls = sums.calls;
  time.total = sums.total;
  time.self = sums.own;
  time.sum = sums.sum;
  time.min = ~sums.not_min;
  for (const loft_calls_kept& call : largest(context, function))
    time.max = std::max(time.max, call.ticks);
  std::vector<std::uint64_t> steps(LOFT_CALLS_STEP_COUNT);
  std::memcpy(steps.data(),
              at(context, steps_at() + std::uint64_t{function} * LOFT_CALLS_HISTOGRAM_SIZE),
              LOFT_CALLS_HISTOGRAM_SIZE);
  time.histogram = sample::CallHistogram(steps);
  return result;
}

std::vector<loft_calls_kept> Arena::largest(std::uint32_t context, std::uint32_t function) const {
  std::vector<loft_calls_kept> calls(LOFT_CALLS_LARGEST_COUNT);
  std::memcpy(calls.data(), at(context, largest_at() + std::uint64_t{function} * kLargestSize),
              kLargestSize);
  std::erase_if(calls, [](const loft_calls_kept& call) { return call.ticks == 0; });
  for (loft_calls_kept& call : calls) {
    call.function = function;
    call.caller = function_at(call.caller);
  }
  return calls;
}

// As in a context, of an offset of sums; kNoCall where none is there.
std::uint32_t Arena::function_at(std::uint32_t offset) const {
  const std::uint32_t function = (offset - LOFT_CALLS_SUMS) / LOFT_CALLS_SUMS_SIZE;
  return offset >= LOFT_CALLS_SUMS && function < options_.functions ? function : kNoCall;
}

// What is open counts up to now; what it has called and is open, too, is not its own.
void Arena::add_open(std::uint32_t context, std::uint64_t now,
                     std::vector<sample::CallDistribution>& times) const {
  const std::vector<OpenCall> open = open_calls(context);
  std::vector<bool> is_inside(times.size());
  for (std::size_t i = 0; i < open.size(); ++i) {
    const OpenCall& call = open[i];
    if (call.function >= times.size() || call.start > now) continue;
    const std::uint64_t end = i + 1 < open.size() ? std::min(now, open[i + 1].start) : now;
    const std::uint64_t own = end - std::min(end, call.start);
    times[call.function].self += own - std::min(own, call.child);
    if (!is_inside[call.function]) times[call.function].total += now - call.start;
    is_inside[call.function] = true;
  }
}

void Arena::close_context(std::uint32_t context, std::uint32_t functions, std::uint64_t now,
                          const Add& add) {
  const std::vector<loft_calls_sums> sums = all_sums(context, functions);
  std::vector<sample::CallDistribution> open(sums.size());
  add_open(context, now, open);
  for (std::uint32_t i = 0; i < sums.size(); ++i) {
    if (sums[i].calls + sums[i].open + sums[i].unmeasured == 0) continue;
    sample::CallStatistics all = statistics(context, i, sums[i]);
    all.of[0].total += open[i].total;
    all.of[0].self += open[i].self;
    add(i, all);
  }
  ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(context * context_size_), static_cast<off_t>(context_size_));
  used_[context] = false;
}

void Arena::read_kept(std::uint32_t context, const Keep& keep) {
  if (options_.kept_calls == 0) return;
  auto* written_at = reinterpret_cast<std::uint64_t*>(at(context, LOFT_CALLS_WRITTEN));
  auto* read_at = reinterpret_cast<std::uint64_t*>(at(context, LOFT_CALLS_READ));
  const std::uint64_t written = __atomic_load_n(written_at, __ATOMIC_ACQUIRE);
  std::uint64_t read = __atomic_load_n(read_at, __ATOMIC_RELAXED);
  if (written - read > options_.kept_calls) read = written;
  for (; read != written; ++read) {
    loft_calls_kept call;
    const std::uint64_t index = read & (options_.kept_calls - 1);
    std::memcpy(&call, at(context, ring_at() + index * LOFT_CALLS_KEPT_SIZE), sizeof call);
    call.function = function_at(call.function);
    call.caller = function_at(call.caller);
    if (call.function != kNoCall) keep(call);
  }
  __atomic_store_n(read_at, read, __ATOMIC_RELEASE);
}

std::uint64_t Arena::lost(std::uint32_t context) const {
  std::uint64_t lost = 0;
  std::memcpy(&lost, at(context, LOFT_CALLS_LOST), sizeof lost);
  return lost;
}

}  // namespace loft::source::calls

#endif
