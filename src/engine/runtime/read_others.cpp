// Counts of other threads of the run, of those that have ended, too: their counters stay in the
// run's memory, each thread's at its own place.
#include <fcntl.h>

#include <new>

#include "engine/runtime/descriptors.hpp"
#include "engine/runtime/event_sets.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine::runtime {
namespace {

// Counters of a slot, as long as no other slot is asked for; null when they cannot be had.
const std::uint64_t* counters_of(std::uint32_t slot, std::uint32_t blocks) {
  constexpr std::uint64_t kPage = 4096;
  static std::uint64_t* window = nullptr;
  if (window == nullptr) window = static_cast<std::uint64_t*>(reserve(kCountersPerSlot));
  const std::uint64_t bytes = (blocks * sizeof(std::uint64_t) + kPage - 1) & ~(kPage - 1);
  const long mapped =
      map_own(Own::memory, word(window), bytes, kCountersOffset + slot * kCountersPerSlot);
  return is_error(mapped) ? nullptr : window;
}

// Digits behind others: as the kernel writes numbers into names of files.
char* put_number(char* to, std::uint32_t number) {
  char digits[10];
  int count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (count != 0) *to++ = digits[--count];
  return to;
}

char* put_text(char* to, const char* text) {
  while (*text != '\0') *to++ = *text++;
  return to;
}

// A file of /proc about a thread, as far as there is room; empty when the thread is gone.
template <std::size_t Size>
void read_about(const SlotEntry& slot, const char* file, char (&text)[Size]) {
  char path[64];
  char* end = put_number(put_text(path, "/proc/"), slot.process);
  end = put_text(put_number(put_text(end, "/task/"), slot.thread), file);
  *end = '\0';
  text[0] = '\0';
  const long opened = kernel(SYS_open, word(path), O_RDONLY | O_CLOEXEC);
  if (is_error(opened)) return;
  const auto descriptor = static_cast<std::uint64_t>(opened);
  const long got = kernel(SYS_read, descriptor, word(text), Size - 1);
  kernel(SYS_close, descriptor);
  text[got > 0 ? got : 0] = '\0';
}

// What a thread that has not ended has run.
std::uint64_t cpu_time(const SlotEntry& slot) {
  char text[64];
  read_about(slot, "/schedstat", text);
  std::uint64_t time = 0;
  for (const char* at = text; *at >= '0' && *at <= '9'; ++at)
    time = time * 10 + static_cast<std::uint64_t>(*at - '0');
  return time;
}

// Nothing is known of a thread that lives on outside of the engine.
bool has_left(const SlotEntry& slot) {
  if ((slot.creator & kHasLeft) == 0) return false;
  char text[512];
  read_about(slot, "/stat", text);
  const char* state = nullptr;  // behind the name, which may hold anything
  for (const char* at = text; *at != '\0'; ++at)
    if (at[0] == ')' && at[1] == ' ') state = at + 2;
  return state != nullptr && *state != 'Z' && *state != 'X' && *state != '\0';
}

// Threads that were asked for, in the order of their slots. A thread has several slots: for
// regions, and for each program that it became by exec.
class Chosen {
 public:
  explicit Chosen(const door::OthersRequest& request)
      : request_(request), process_(static_cast<std::uint32_t>(kernel(SYS_getpid))) {}

  bool add(const SlotEntry& slot) {
    if (slot.thread == 0 || !is_wanted(slot)) return false;
    if (is_known(slot.thread)) return true;
    if (count_ == kMost) return false;
    threads_[count_++] = slot.thread;
    return true;
  }
  [[nodiscard]] bool is_known(std::uint32_t thread) const {
    for (std::uint32_t i = 0; i < count_; ++i)
      if (threads_[i] == thread) return true;
    return false;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  [[nodiscard]] bool is_wanted(const SlotEntry& slot) const {
    if (request_.whose == door::Whose::process) return slot.process == process_;
    if (slot.thread == request_.thread) return true;
    return request_.whose == door::Whose::descendants &&
           (is_known(slot.thread) || (slot.started_ns >= request_.since_ns && slot.creator != 0 &&
                                      is_known(slot.creator & ~kHasLeft)));
  }

  static constexpr std::uint32_t kMost = 4096;
  const door::OthersRequest& request_;
  std::uint32_t process_;
  std::uint32_t count_ = 0;
  std::uint32_t threads_[kMost];
};

bool add_counts(std::uint32_t slot, const EventSet& set, std::uint64_t* sums) {
  const EventSets& all = event_sets();
  const std::uint64_t* counters = counters_of(slot, all.learnt);
  if (counters == nullptr) return false;
  for (std::uint32_t block = kFirstBlock; block < all.learnt; ++block) {
    const std::uint64_t count = __atomic_load_n(&counters[block], __ATOMIC_RELAXED);
    if (count == 0) continue;
    for (std::uint32_t i = 0; i < set.count; ++i)
      sums[i] +=
          count * static_cast<std::uint64_t>(std::int64_t{all.rules[set.rules[i]].of_block[block]});
  }
  return true;
}

}  // namespace

std::uint64_t read_others(std::uint64_t address) {
  door::OthersRequest request;
  auto* to = reinterpret_cast<void*>(address);
  if (engine_safe_copy(&request, to, sizeof request) != sizeof request) return 0;
  const Holding holding(cache_lock());
  EventSets& all = event_sets();
  if (request.set == 0 || request.set > door::kMaxSets || all.sets[request.set - 1].count == 0)
    return 0;
  const EventSet& set = all.sets[request.set - 1];
  const std::uint32_t slots = shared_header()->slots.load();
  static Chosen* chosen = nullptr;  // too large for the stack
  if (chosen == nullptr) chosen = static_cast<Chosen*>(allocate(sizeof(Chosen)));
  new (chosen) Chosen(request);
  std::uint64_t sums[door::kMaxRulesOfSet] = {};
  request.cpu_ns = 0;
  for (std::uint32_t i = 0; i < slots && i < kMaxSlots; ++i) {
    const SlotEntry& slot = recorded_slot(i);
    const std::uint32_t before = chosen->count();
    if (!chosen->add(slot)) continue;
    // Block numbers of another program weigh nothing until it is known that they are needed.
    if (!is_own_image(slot.image)) learn_others();
    learn_blocks();
    if (!add_counts(i, set, sums)) return door::kOutside;
    if (has_left(slot)) return door::kOutside;
    if (chosen->count() == before) continue;
    request.cpu_ns += slot.ended != 0 ? slot.cpu_ns : cpu_time(slot);
  }
  const auto bytes = static_cast<long>(set.count * sizeof sums[0]);
  if (engine_safe_copy(reinterpret_cast<void*>(request.counts), sums, bytes) != bytes ||
      engine_safe_copy(to, &request, sizeof request) != sizeof request)
    return 0;
  return chosen->count();
}

}  // namespace loft::engine::runtime
