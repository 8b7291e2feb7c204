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

Arena::CountTables Arena::count_tables() const {
  const auto many = [](std::uint64_t count, std::uint64_t size) { return count * size; };
  CountTables at;
  at.frames = rounded(ring_at() + many(options_.kept_calls, LOFT_CALLS_KEPT_SIZE));
  at.end = at.frames;
  if (options_.counters == 0) return at;
  at.sums = at.frames + many(LOFT_CALLS_FRAME_COUNT, sizeof(loft_calls_frame_counts));
  at.kept = at.sums + many(std::uint64_t{options_.functions} * LOFT_CALLS_COUNTER_COUNT,
                           sizeof(loft_calls_count_sums));
  at.largest = at.kept + many(options_.kept_calls, sizeof(loft_calls_counts));
  at.nodes = at.largest + many(std::uint64_t{options_.functions} * LOFT_CALLS_LARGEST_COUNT,
                               sizeof(loft_calls_counts));
  at.end = rounded(at.nodes + many(LOFT_CALLS_NODE_COUNT, sizeof(loft_calls_counts)));
  return at;
}

Result<std::shared_ptr<Arena>> Arena::create(const Tracee& thread, std::uint64_t instruction,
                                             pid_t pid, const ArenaOptions& options) {
  std::shared_ptr<Arena> arena(new Arena());
  arena->options_ = options;
  arena->context_size_ = arena->count_tables().end;
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
    head.last = head.top + (LOFT_CALLS_FRAME_COUNT - 1) * LOFT_CALLS_FRAME_SIZE;
  head.limit = head.last;
  head.floor = options_.floor;
  head.steps = base + steps_at();
  head.nodes = base + nodes_at();
  head.largest = base + largest_at();
  head.ring = options_.kept_calls == 0 ? 0 : base + ring_at();
  head.room = options_.kept_calls;
  head.longer = options_.longer;
  head.depth = options_.depth == 0 ? ~std::uint64_t{0} : options_.depth;
  std::memcpy(at(context, 0), &head, sizeof head);
}

// The fast ways know no counters: a limit of 0 and a ring lead them to the other one.
void Arena::set_counters(std::uint32_t context, const std::vector<std::uint64_t>& pages) {
  if (context == kCommon || pages.size() != options_.counters) return;
  loft_calls_context head = head_of(context);
  const std::uint64_t base = address_of(context);
  const CountTables tables = count_tables();
  head.limit = 0;
  head.ring = base + ring_at();
  std::copy(pages.begin(), pages.end(), head.pages);
  head.frame_counts = base + tables.frames;
  head.count_sums = base + tables.sums;
  head.kept_counts = base + tables.kept;
  head.largest_counts = base + tables.largest;
  head.node_counts = base + tables.nodes;
  head.counters = options_.counters;
  std::memcpy(at(context, 0), &head, sizeof head);
}

loft_calls_context Arena::head_of(std::uint32_t context) const {
  loft_calls_context head;
  std::memcpy(&head, at(context, 0), sizeof head);
  return head;
}

std::uint64_t Arena::uncounted(std::uint32_t context) const { return head_of(context).uncounted; }

template <typename Entry>
Entry Arena::entry_at(std::uint32_t context, std::uint64_t table, std::uint64_t index) const {
  Entry entry{};
  if (options_.counters != 0)
    std::memcpy(&entry, at(context, table + index * sizeof entry), sizeof entry);
  return entry;
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
  for (const ReadCall& call : largest(context, function)) time.max = std::max(time.max, call.ticks);
  std::vector<std::uint64_t> steps(LOFT_CALLS_STEP_COUNT);
  std::memcpy(steps.data(),
              at(context, steps_at() + std::uint64_t{function} * LOFT_CALLS_HISTOGRAM_SIZE),
              LOFT_CALLS_HISTOGRAM_SIZE);
  time.histogram = sample::CallHistogram(steps);
  add_counts(context, function, result);
  return result;
}

// What is open is in none of them: its counters can be read in its thread alone.
void Arena::add_counts(std::uint32_t context, std::uint32_t function,
                       sample::CallStatistics& statistics) const {
  for (std::uint32_t i = 0; i < options_.counters; ++i) {
    const auto sums = entry_at<loft_calls_count_sums>(
        context, count_tables().sums, std::uint64_t{function} * LOFT_CALLS_COUNTER_COUNT + i);
    sample::CallDistribution& of = statistics.of.emplace_back();
    of.calls = statistics.calls;
    of.total = sums.total;
    of.self = sums.own;
    of.sum = sums.sum;
    of.min = ~sums.not_min;
    of.max = sums.max;
  }
}

std::vector<ReadCall> Arena::largest(std::uint32_t context, std::uint32_t function) const {
  std::vector<ReadCall> calls;
  for (std::uint64_t i = 0; i < LOFT_CALLS_LARGEST_COUNT; ++i) {
    const std::uint64_t place = std::uint64_t{function} * LOFT_CALLS_LARGEST_COUNT + i;
    ReadCall call;
    std::memcpy(static_cast<loft_calls_kept*>(&call),
                at(context, largest_at() + place * LOFT_CALLS_KEPT_SIZE), LOFT_CALLS_KEPT_SIZE);
    if (call.ticks == 0) continue;
    call.function = function;
    call.caller = function_at(call.caller);
    call.counts = entry_at<loft_calls_counts>(context, count_tables().largest, place);
    calls.push_back(call);
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
  now -= head_of(context).skew;
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
    ReadCall call;
    const std::uint64_t index = read & (options_.kept_calls - 1);
    std::memcpy(static_cast<loft_calls_kept*>(&call),
                at(context, ring_at() + index * LOFT_CALLS_KEPT_SIZE), LOFT_CALLS_KEPT_SIZE);
    call.counts = entry_at<loft_calls_counts>(context, count_tables().kept, index);
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
