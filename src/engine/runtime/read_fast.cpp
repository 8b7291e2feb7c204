// Sums of the thread's counters (event_sets.hpp). This file is compiled for general registers
// alone: the program's vector registers are live.
#include "engine/runtime/event_sets.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"

namespace loft::engine::runtime {
namespace {

constexpr std::uint32_t kFewBlocks = 256;  // not worth another generation

std::uint64_t product(std::uint64_t count, std::int32_t weight) {
  return count * static_cast<std::uint64_t>(static_cast<std::int64_t>(weight));
}

// The rules that some set has, and for which the thread has sums.
struct Used {
  std::uint32_t count = 0;
  std::uint16_t rules[door::kMaxRules];
};

void add_difference(const Used& used, Reader& reader, std::uint32_t block, std::uint64_t more) {
  const EventSets& all = event_sets();
  for (std::uint32_t i = 0; i < used.count; ++i)
    reader.sums[used.rules[i]] += product(more, all.rules[used.rules[i]].of_block[block]);
}

// The program's vector registers that the comparison uses, kept meanwhile.
class VectorRegisters {
 public:
  VectorRegisters() {
    asm volatile(
        "movups %%xmm0, (%0)\n movups %%xmm1, 16(%0)\n movups %%xmm2, 32(%0)\n"
        "movups %%xmm3, 48(%0)"
        :
        : "r"(kept_)
        : "memory");
  }
  VectorRegisters(const VectorRegisters&) = delete;
  VectorRegisters& operator=(const VectorRegisters&) = delete;
  ~VectorRegisters() {
    asm volatile(
        "movups (%0), %%xmm0\n movups 16(%0), %%xmm1\n movups 32(%0), %%xmm2\n"
        "movups 48(%0), %%xmm3"
        :
        : "r"(kept_)
        : "memory");
  }

 private:
  std::uint8_t kept_[64];
};

constexpr std::uint32_t kLine = 8;  // counters in 64 bytes

// Both are where a cache line starts: the next one from `now` on that differs, or `end`.
const std::uint64_t* next_difference(const std::uint64_t* now, const std::uint64_t* then,
                                     const std::uint64_t* end) {
  std::uint32_t equal = 0;
  asm volatile(
      "jmp 2f\n"
      "1:\n"
      "movdqa (%0), %%xmm0\n movdqa 16(%0), %%xmm1\n"
      "movdqa 32(%0), %%xmm2\n movdqa 48(%0), %%xmm3\n"
      "pcmpeqd (%1), %%xmm0\n pcmpeqd 16(%1), %%xmm1\n"
      "pcmpeqd 32(%1), %%xmm2\n pcmpeqd 48(%1), %%xmm3\n"
      "pand %%xmm1, %%xmm0\n pand %%xmm3, %%xmm2\n pand %%xmm2, %%xmm0\n"
      "pmovmskb %%xmm0, %2\n"
      "cmp $0xFFFF, %2\n"
      "jne 3f\n"
      "add $64, %0\n add $64, %1\n"
      "2: cmp %3, %0\n"
      "jb 1b\n"
      "3:"
      : "+r"(now), "+r"(then), "+r"(equal)
      : "r"(end)
      : "memory", "cc");
  return now;
}

void compare(const Context& context, const Used& used, Reader& reader, std::uint32_t end) {
  std::uint64_t* counters = const_cast<Context&>(context).counters();
  std::uint64_t* seen = context.seen;
  const auto look_at = [&](std::uint32_t block) {
    const std::uint64_t now = __atomic_load_n(&counters[block], __ATOMIC_RELAXED);
    if (now == seen[block]) return;
    add_difference(used, reader, block, now - seen[block]);
    seen[block] = now;
  };
  // What stands in front of the first block weighs nothing.
  std::uint32_t block = reader.floor & ~(kLine - 1);
  const std::uint32_t whole = end & ~(kLine - 1);
  const VectorRegisters kept;
  while (block < whole) {
    const auto* next = next_difference(counters + block, seen + block, counters + whole);
    block = static_cast<std::uint32_t>(next - counters);
    for (std::uint32_t i = 0; i < kLine && block < whole; ++i) look_at(block++);
  }
  for (; block < end; ++block) look_at(block);
}

// A rule that is new to the thread: everything that was seen so far.
void sum_anew(Context* context, Reader& reader, std::uint32_t rule) {
  const BlockWeights& weights = event_sets().rules[rule];
  std::uint64_t sum = 0;
  for_each_counting(context, [&](const Context& own) {
    for (std::uint32_t block = kFirstBlock; block < reader.end; ++block)
      sum += product(own.seen[block], weights.of_block[block]);
  });
  reader.sums[rule] = sum;
  reader.epochs[rule] = weights.epoch;
}

}  // namespace

Context* first_of_thread(Context* context) {
  Context* home = home_of(context);
  const bool is_inside = home->region_other != nullptr && home->region_outside == 0;
  return is_inside ? home->region_other : home;
}

void sum_counters(Context* context, Reader& reader) {
  const EventSets& all = event_sets();
  Used used;
  for (std::uint32_t rule = 0; rule < all.rule_count; ++rule) {
    if (all.rules[rule].users == 0) continue;
    if (reader.epochs[rule] != all.rules[rule].epoch) sum_anew(context, reader, rule);
    used.rules[used.count++] = static_cast<std::uint16_t>(rule);
  }
  const std::uint32_t end = __atomic_load_n(&all.learnt, __ATOMIC_ACQUIRE);
  for_each_counting(context, [&](const Context& own) { compare(own, used, reader, end); });
  reader.end = end;
}

bool can_sum(Context* context) {
  const EventSets& all = event_sets();
  Context* first = first_of_thread(context);
  Reader* reader = first->reader;
  if (all.pending != 0 ||
      __atomic_load_n(&all.learnt, __ATOMIC_ACQUIRE) != shared_header()->blocks.load() ||
      reader == nullptr || reader->slot != std::uint64_t{first->slot} + 1 ||
      reader->generation != __atomic_load_n(&all.generation, __ATOMIC_ACQUIRE))
    return false;
  if (++reader->reads >= all.reads_until_next && reader->end - reader->floor > kFewBlocks)
    return false;
  bool is_seen = true;
  for_each_counting(context, [&](const Context& own) {
    is_seen = is_seen && own.seen_slot == std::uint64_t{own.slot} + 1;
  });
  return is_seen;
}

bool tell_events(Context* context, const EventSet& set, std::uint64_t to) {
  const Reader& reader = *first_of_thread(context)->reader;
  std::uint64_t counts[door::kMaxRulesOfSet];
  for (std::uint32_t i = 0; i < set.count; ++i) counts[i] = reader.sums[set.rules[i]];
  const auto bytes = static_cast<long>(set.count * sizeof counts[0]);
  return engine_safe_copy(reinterpret_cast<void*>(to), counts, bytes) == bytes;
}

}  // namespace loft::engine::runtime
