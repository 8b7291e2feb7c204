#include "engine/runtime/event_sets.hpp"

#include <sys/mman.h>

#include <cstring>

#include "engine/runtime/instruction.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine::runtime {
namespace {

EventSets g_sets;

// Blocks that another process was writing down when they were met.
constexpr std::uint32_t kMaxPending = 64;
std::uint32_t g_pending[kMaxPending];

std::int32_t each_of(const Kind& kind, Unit unit, const EventRule& rule) {
  if (!rule.meets(kind)) return 0;
  for (const UnitEffect& effect : kind.units)
    if (effect.unit == unit) return effect.each[rule.measure];
  return 0;
}

// Calls visit(index, facts) for the instructions of a block.
template <class Visit>
void for_each_instruction(const BlockEntry& block, Visit&& visit) {
  const std::uint8_t* bytes = recorded_code(block);
  InstructionFacts facts;
  std::uint32_t index = 0;
  for (std::uint32_t size = block.size; size != 0; size -= facts.length, bytes += facts.length) {
    if (!describe_instruction(bytes, size, facts)) return;
    visit(index++, facts);
  }
}

// By number of a block without a counter of its own: what counts how often it was not come to.
std::uint32_t* g_taken_before = nullptr;

bool is_taken(const BlockEntry& block) {
  return block.kind == static_cast<std::uint16_t>(BlockKind::taken);
}

void note_taken(std::uint32_t number, const BlockEntry& taken) {
  if (taken.next_fall == kNoBlock) return;
  if (g_taken_before == nullptr)
    g_taken_before =
        static_cast<std::uint32_t*>(reserve(std::uint64_t{kMaxBlocks} * sizeof(std::uint32_t)));
  g_taken_before[taken.next_fall] = number;
}

// Sums that were made with other weights hold no longer.
void renew(BlockWeights& weights) {
  static std::uint32_t epochs = 0;
  weights.epoch = ++epochs;
}

void add_to_counter(BlockWeights& weights, std::uint32_t counter, std::int32_t amount) {
  if (amount == 0) return;
  weights.of_block[counter] += amount;
  if (counter < g_sets.learnt) renew(weights);
  if (counter >= weights.end) weights.end = counter + 1;
}

// A block ran as often as its counter says; one behind a branch that counts when it is taken, as
// often more as the block of the branch did, less that.
void add(BlockWeights& weights, std::uint32_t block, std::int32_t amount) {
  add_to_counter(weights, block, amount);
  while (const std::uint32_t taken = g_taken_before == nullptr ? 0 : g_taken_before[block]) {
    add_to_counter(weights, taken, -amount);
    block = recorded_block(taken).size;
    add_to_counter(weights, block, amount);
  }
}

// Rules that are weighed together, for decoding the code is what takes the time.
struct RuleList {
  std::uint32_t count = 0;
  std::uint16_t numbers[door::kMaxRules];

  void add(std::uint32_t number) { numbers[count++] = static_cast<std::uint16_t>(number); }
  [[nodiscard]] BlockWeights& at(std::uint32_t index) const { return g_sets.rules[numbers[index]]; }
};

// A conditional branch was taken as often as its block ran, less what fell through, if it does not
// count that itself.
void add_body(BlockWeights& weights, std::uint32_t number, const BlockEntry& block,
              std::int32_t sum, std::int32_t taken) {
  if (block.next_fall == kNoBlock) taken = 0;
  if (taken != 0 && is_taken(recorded_block(block.next_fall))) {
    add(weights, number, sum);
    return add_to_counter(weights, block.next_fall, taken);
  }
  add(weights, number, sum + taken);
  if (taken != 0) add(weights, block.next_fall, -taken);
}

void weigh_body(const RuleList& rules, std::uint32_t number, const BlockEntry& block) {
  std::int32_t sums[door::kMaxRules], taken[door::kMaxRules];
  std::memset(sums, 0, rules.count * sizeof sums[0]);
  std::memset(taken, 0, rules.count * sizeof taken[0]);
  for_each_instruction(block, [&](std::uint32_t, const InstructionFacts& facts) {
    for (std::uint32_t i = 0; i < rules.count; ++i) {
      const EventRule& rule = rules.at(i).rule;
      if (rule.meets(facts.kind)) sums[i] += facts.kind.fixed[rule.measure];
      taken[i] = each_of(facts.kind, Unit::taken, rule);
    }
  });
  for (std::uint32_t i = 0; i < rules.count; ++i)
    add_body(rules.at(i), number, block, sums[i], taken[i]);
}

void weigh(const RuleList& rules, std::uint32_t number, const BlockEntry& block) {
  const auto kind = static_cast<BlockKind>(block.kind);
  if (kind == BlockKind::body) return weigh_body(rules, number, block);
  if (kind != BlockKind::units && kind != BlockKind::extra_fall) return;
  const BlockEntry& owner = recorded_block(block.next_fall);
  for_each_instruction(owner, [&](std::uint32_t index, const InstructionFacts& facts) {
    for (std::uint32_t i = 0; i < rules.count; ++i) {
      BlockWeights& weights = rules.at(i);
      if (kind == BlockKind::units && index == block.instructions)
        add(weights, number, each_of(facts.kind, static_cast<Unit>(block.size), weights.rule));
      if (kind == BlockKind::extra_fall && index + 1u == owner.instructions)
        add(weights, number, -each_of(facts.kind, Unit::taken, weights.rule));
    }
  });
}

bool is_complete(const BlockEntry& block) {
  return __atomic_load_n(&block.address, __ATOMIC_ACQUIRE) != 0;
}

void weigh_for_all(std::uint32_t number) {
  const BlockEntry& block = recorded_block(number);
  if (!g_sets.has_others && !is_own_mapping(block.mapping)) return;
  if (is_taken(block)) note_taken(number, block);
  RuleList all;
  for (std::uint32_t i = 0; i < g_sets.rule_count; ++i) all.add(i);
  weigh(all, number, block);
}

}  // namespace

// cache_lock() is held: no thread of this process is in the middle of a block but by a signal.
void learn_blocks() {
  for (std::uint32_t i = 0; i < g_sets.pending;) {
    const std::uint32_t number = g_pending[i];
    if (!is_complete(recorded_block(number))) {
      ++i;
      continue;
    }
    weigh_for_all(number);
    g_pending[i] = g_pending[--g_sets.pending];
  }
  if (g_sets.learnt < kFirstBlock) g_sets.learnt = kFirstBlock;
  std::uint32_t known = shared_header()->blocks.load();
  if (known > kMaxBlocks) known = kMaxBlocks;
  std::uint32_t number = g_sets.learnt;
  for (; number < known; ++number) {
    if (is_complete(recorded_block(number)))
      weigh_for_all(number);
    else if (g_sets.pending < kMaxPending)
      g_pending[g_sets.pending++] = number;
    else
      break;
  }
  __atomic_store_n(&g_sets.learnt, number, __ATOMIC_RELEASE);
}

void learn_others() {
  if (g_sets.has_others) return;
  learn_blocks();
  g_sets.has_others = true;
  for (std::uint32_t number = kFirstBlock; number < g_sets.learnt; ++number)
    if (is_complete(recorded_block(number)) && !is_own_mapping(recorded_block(number).mapping))
      weigh_for_all(number);
}

bool is_same(const EventRule& a, const EventRule& b) {
  if (a.measure != b.measure || a.condition_count != b.condition_count) return false;
  for (std::uint8_t i = 0; i < a.condition_count; ++i)
    if (a.conditions[i].attribute != b.conditions[i].attribute ||
        a.conditions[i].low != b.conditions[i].low || a.conditions[i].high != b.conditions[i].high)
      return false;
  return true;
}

bool is_valid(const EventRule& rule) {
  if (rule.measure >= Measure::count_ || rule.condition_count > rule.conditions.size())
    return false;
  for (std::uint8_t i = 0; i < rule.condition_count; ++i)
    if (rule.conditions[i].attribute >= Attribute::count_) return false;
  return true;
}

namespace {

// A place for a rule: a new one, or that of one that no set has any more; kMaxRules when all are in
// use.
std::uint32_t free_rule() {
  if (g_sets.rule_count < door::kMaxRules) {
    g_sets.rules[g_sets.rule_count].of_block =
        static_cast<std::int32_t*>(reserve(std::uint64_t{kMaxBlocks} * sizeof(std::int32_t)));
    return g_sets.rule_count++;
  }
  std::uint32_t number = 0;
  while (number < door::kMaxRules && g_sets.rules[number].users != 0) ++number;
  if (number == door::kMaxRules) return number;
  BlockWeights& old = g_sets.rules[number];
  std::memset(old.of_block, 0, old.end * sizeof old.of_block[0]);
  old.end = 0;
  return number;
}

// The number of a rule; kMaxRules when there is no room. One that is new is added to the list of
// those that are to be weighed.
std::uint32_t rule_number(const EventRule& rule, RuleList& added) {
  for (std::uint32_t i = 0; i < g_sets.rule_count; ++i)
    if (is_same(g_sets.rules[i].rule, rule)) return i;
  const std::uint32_t place = free_rule();
  if (place == door::kMaxRules) return place;
  g_sets.rules[place].rule = rule;
  renew(g_sets.rules[place]);
  added.add(place);
  return place;
}

// They know all blocks then that the others know.
void weigh_known_blocks(const RuleList& rules) {
  if (rules.count == 0) return;
  const auto is_pending = [](std::uint32_t number) {
    for (std::uint32_t i = 0; i < g_sets.pending; ++i)
      if (g_pending[i] == number) return true;
    return false;
  };
  for (std::uint32_t number = kFirstBlock; number < g_sets.learnt; ++number)
    if ((g_sets.has_others || is_own_mapping(recorded_block(number).mapping)) &&
        !is_pending(number))
      weigh(rules, number, recorded_block(number));
}

std::uint32_t take_unweighed(const EventRule& rule, RuleList& added) {
  const std::uint32_t number = rule_number(rule, added);
  if (number != door::kMaxRules && g_sets.rules[number].users++ == 0) renew(g_sets.rules[number]);
  return number;
}

}  // namespace

std::uint32_t take_rule(const EventRule& rule) {
  RuleList added;
  const std::uint32_t number = take_unweighed(rule, added);
  weigh_known_blocks(added);
  return number;
}

void release_rule(std::uint32_t rule) { --g_sets.rules[rule].users; }

namespace {

void let_go(const EventSet& set, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) release_rule(set.rules[i]);
}

}  // namespace

EventSets& event_sets() { return g_sets; }

std::uint64_t open_events(std::uint64_t rules, std::uint64_t count) {
  EventRule wanted[door::kMaxRulesOfSet];
  if (count == 0 || count > door::kMaxRulesOfSet) return 0;
  const auto bytes = static_cast<long>(count * sizeof(EventRule));
  if (engine_safe_copy(wanted, reinterpret_cast<void*>(rules), bytes) != bytes) return 0;
  const Holding holding(cache_lock());
  std::uint32_t number = 0;
  while (number < door::kMaxSets && g_sets.sets[number].count != 0) ++number;
  if (number == door::kMaxSets) return 0;
  EventSet& set = g_sets.sets[number];
  RuleList added;
  std::uint32_t taken = 0;
  for (; taken < count; ++taken) {
    const EventRule& rule = wanted[taken];
    const std::uint32_t place = is_valid(rule) ? take_unweighed(rule, added) : door::kMaxRules;
    if (place == door::kMaxRules) break;
    set.rules[taken] = static_cast<std::uint16_t>(place);
  }
  weigh_known_blocks(added);  // also when there is no room for all: they stay known
  if (taken < count) {
    let_go(set, taken);
    return 0;
  }
  learn_blocks();
  __atomic_store_n(&set.count, static_cast<std::uint32_t>(count), __ATOMIC_RELEASE);
  return number + 1;
}

namespace {

// Counters that nothing was seen of yet: of a new context, or of a child of fork.
void start_seeing(Context& context) {
  constexpr std::uint64_t kBytes = std::uint64_t{kMaxBlocks} * sizeof(std::uint64_t);
  const std::uint64_t slot = std::uint64_t{context.slot} + 1;
  if (context.seen_slot == slot) return;
  if (context.seen == nullptr)
    context.seen = static_cast<std::uint64_t*>(reserve(kBytes));
  else
    kernel(SYS_madvise, word(context.seen), kBytes, MADV_DONTNEED);
  context.seen_slot = slot;
}

Reader& reader_of(Context* context) {
  Context* first = first_of_thread(context);
  if (first->reader == nullptr) first->reader = static_cast<Reader*>(allocate(sizeof(Reader)));
  Reader& reader = *first->reader;
  if (const std::uint64_t slot = std::uint64_t{first->slot} + 1; reader.slot != slot) {
    std::memset(static_cast<void*>(&reader), 0, sizeof reader);
    reader.slot = slot;
    reader.floor = kFirstBlock;
  }
  return reader;
}

}  // namespace

void renew_code() {
  learn_blocks();
  renew_traces();
  g_sets.floor = g_sets.learnt;
  __atomic_store_n(&g_sets.generation, g_sets.generation + 1, __ATOMIC_RELEASE);
}

void follow_generation(Reader& reader) {
  if (reader.generation == g_sets.generation) return;
  reader.generation = g_sets.generation;
  reader.floor = g_sets.floor;
  reader.reads = 0;
}

Reader& update_reader(Context* context) {
  learn_blocks();
  Reader& reader = reader_of(context);
  for_each_counting(context, [](Context& own) { start_seeing(own); });
  sum_counters(context, reader);
  return reader;
}

std::uint64_t read_events(Context* context, std::uint64_t set, std::uint64_t to) {
  // Most blocks are those of the start: comparing them is what a read costs until code is new.
  constexpr std::uint32_t kFirstReads = 4;
  constexpr std::uint32_t kMoreReads = 8;  // times as many until the next time
  constexpr std::uint32_t kMostReads = 1u << 27;
  if (set == 0 || set > door::kMaxSets || g_sets.sets[set - 1].count == 0) return 0;
  const Holding holding(cache_lock());
  Reader& reader = update_reader(context);
  if (g_sets.reads_until_next == 0) g_sets.reads_until_next = kFirstReads;
  if (reader.generation == g_sets.generation && reader.reads >= g_sets.reads_until_next) {
    renew_code();
    if (g_sets.reads_until_next < kMostReads) g_sets.reads_until_next *= kMoreReads;
  }
  follow_generation(reader);
  return tell_events(context, g_sets.sets[set - 1], to) ? 1 : 0;
}

void close_events(std::uint64_t set) {
  if (set == 0 || set > door::kMaxSets) return;
  const Holding holding(cache_lock());
  let_go(g_sets.sets[set - 1], g_sets.sets[set - 1].count);
  g_sets.sets[set - 1].count = 0;
}

}  // namespace loft::engine::runtime
