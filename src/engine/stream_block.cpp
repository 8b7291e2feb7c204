#include "engine/stream_block.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace loft::engine {
namespace {

constexpr std::size_t kMostInstructions = 128;  // the engine's blocks have at most 64

std::uint64_t word_at(const std::byte* record, std::uint16_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

// Puts a word where resolve() looks for it.
void apply(const StreamWord& word, const std::byte* bytes, RegisterState& state) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  switch (word.kind) {
    case StreamWord::Kind::general:
    case StreamWord::Kind::general_after:
      state.general[word.number & 15] = value;
      break;
    case StreamWord::Kind::fs_base:
      state.fs_base = value;
      break;
    case StreamWord::Kind::gs_base:
      state.gs_base = value;
      break;
    case StreamWord::Kind::opmask:
      state.opmask[word.number & 7] = value;
      break;
    case StreamWord::Kind::signs: {
      auto* lanes = word.is_mmx ? reinterpret_cast<std::uint8_t*>(&state.mmx[word.number & 7])
                                : state.vector[word.number & 31].data();
      for (unsigned lane = 0; lane < word.lanes; ++lane)
        lanes[(lane + 1) * word.lane_bytes - 1] =
            static_cast<std::uint8_t>((value >> lane & 1) << 7);
      break;
    }
    case StreamWord::Kind::tiles:
      std::memcpy(state.tile_config.data(), bytes, state.tile_config.size());
      break;
    case StreamWord::Kind::vector:
      std::memcpy(state.vector[word.number & 31].data(), bytes, word.bytes);
      break;
  }
}

bool is_whole_register(ZydisRegister reg) {
  return reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP ||
         (general_number(reg) >= 0 && ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) >= 32);
}

bool is_simple(const MemoryAccess& access) {
  return (access.pattern == Pattern::plain || access.pattern == Pattern::repeated) &&
         is_whole_register(access.base) && is_whole_register(access.index);
}

}  // namespace

// Follows the plan as the engine did when it wrote.
class StreamBlock::Maker {
 public:
  explicit Maker(StreamBlock& block) : block_(block) {}

  void add(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands) {
    const InstructionFacts facts = classify(decoded, operands);
    const std::uint64_t pc = block_.end_;
    StaticInstruction fixed = describe_static(decoded, operands, pc);
    fixed.offset = static_cast<std::uint16_t>(pc - block_.address_);
    const auto number = static_cast<std::uint8_t>(block_.instructions_.size());
    block_.instructions_.push_back(fixed);
    block_.end_ = pc + decoded.length;
    words_.clear();
    after_.fill(0);
    segment_ = 0;
    planner_.add(facts, [&](const StreamWord& word) { take(word); });
    bool is_all_simple = true;
    for (const MemoryAccess& access : facts.memory())
      is_all_simple = is_all_simple && is_simple(access);
    if (is_all_simple) {
      for (const MemoryAccess& access : facts.memory()) add_simple(access, number);
    } else if (facts.access_count != 0) {
      add_other(facts, number);
    }
    for (std::size_t i = 0; i < after_.size(); ++i)
      if (after_[i] != 0) where_[i] = after_[i];
  }

 private:
  void take(const StreamWord& word) {
    const auto offset = static_cast<std::uint16_t>(block_.record_bytes_);
    block_.record_bytes_ += word.bytes;
    words_.push_back({word, offset});
    if (word.kind == StreamWord::Kind::general) where_[word.number & 15] = offset;
    if (word.kind == StreamWord::Kind::general_after) after_[word.number & 15] = offset;
    if (word.kind == StreamWord::Kind::fs_base || word.kind == StreamWord::Kind::gs_base)
      segment_ = offset;
  }

  [[nodiscard]] std::uint16_t where(ZydisRegister reg) const {
    const int number = general_number(reg);
    return number < 0 ? std::uint16_t{0} : where_[static_cast<std::size_t>(number)];
  }

  void add_simple(const MemoryAccess& access, std::uint8_t number) {
    const bool is_relative = access.base == ZYDIS_REGISTER_RIP || access.base == ZYDIS_REGISTER_EIP;
    const int base = general_number(access.base);
    Recipe recipe;
    recipe.is_store = access.is_store;
    recipe.is_32_bit = access.address_bits == 32;
    recipe.instruction = number;
    recipe.size = access.size;
    recipe.base = where(access.base);
    recipe.index = where(access.index);
    recipe.scale = access.scale;
    recipe.constant =
        static_cast<std::uint64_t>(access.displacement) + (is_relative ? block_.end_ : 0);
    if (access.segment == ZYDIS_REGISTER_FS || access.segment == ZYDIS_REGISTER_GS)
      recipe.segment = segment_;
    if (access.pattern == Pattern::repeated) {
      recipe.kind = Recipe::Kind::repeated;
      recipe.base_after = base < 0 ? std::uint16_t{0} : after_[static_cast<std::size_t>(base)];
      recipe.count = where_[kRcx];
      recipe.count_after = after_[kRcx];
    }
    block_.recipes_.push_back(recipe);
  }

  // All general registers that are known, since any may be asked for, and its own words.
  void add_other(const InstructionFacts& facts, std::uint8_t number) {
    Recipe recipe;
    recipe.kind = Recipe::Kind::other;
    recipe.instruction = number;
    recipe.other = static_cast<std::uint32_t>(block_.others_.size());
    block_.recipes_.push_back(recipe);
    Other other{facts, block_.end_, {}};
    for (std::uint8_t i = 0; i < where_.size(); ++i)
      if (where_[i] != 0)
        other.words.push_back({{.kind = StreamWord::Kind::general, .number = i}, where_[i]});
    for (const Other::Word& word : words_)
      if (word.word.kind != StreamWord::Kind::general_after) other.words.push_back(word);
    block_.others_.push_back(std::move(other));
  }

  StreamBlock& block_;
  StreamPlanner planner_;
  std::array<std::uint16_t, 16> where_{};  // of each general register's latest word
  std::array<std::uint16_t, 16> after_{};
  std::uint16_t segment_ = 0;
  std::vector<Other::Word> words_;  // of this instruction
};

StreamBlock::StreamBlock(const BlockEntry& entry, std::span<const std::uint8_t> code)
    : address_(entry.address),
      end_(entry.address),
      is_finished_(entry.kind != static_cast<std::uint16_t>(BlockKind::begun)) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  Maker maker(*this);
  while (!code.empty() && instructions_.size() < kMostInstructions) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &instruction, operands)))
      break;
    maker.add(instruction, operands);
    code = code.subspan(instruction.length);
  }
  is_plain_ = std::all_of(recipes_.begin(), recipes_.end(), is_plain);
  if (is_plain_) {
    for (const Recipe& recipe : recipes_) plain_.push_back(sum_of(recipe));
    recipes_ = {};
  }
  if (instructions_.empty()) return;
  const StaticInstruction& last = instructions_.back();
  if (last.branch == BranchKind::conditional || last.branch == BranchKind::loop)
    conditional_target_ = last.target;
}

bool StreamBlock::is_plain(const Recipe& recipe) {
  const bool is_sum_of_two = recipe.segment == 0 || recipe.base == 0 || recipe.index == 0;
  const auto fits = [](std::uint16_t offset) { return offset / 8 <= 255; };
  return recipe.kind == Recipe::Kind::plain && is_sum_of_two && !recipe.is_32_bit &&
         fits(recipe.base) && fits(recipe.index) && fits(recipe.segment);
}

StreamSum StreamBlock::sum_of(const Recipe& recipe) const {
  StreamSum sum{.constant = recipe.constant,
                .size = recipe.size,
                .base = static_cast<std::uint8_t>(recipe.base / 8),
                .index = static_cast<std::uint8_t>(recipe.index / 8),
                .instruction = recipe.instruction};
  sum.flags = recipe.index != 0 ? recipe.scale : 0;
  if (recipe.base != 0) sum.flags |= StreamSum::kBase;
  if (recipe.segment != 0) {  // in the place of what is not there
    (recipe.base == 0 ? sum.base : sum.index) = static_cast<std::uint8_t>(recipe.segment / 8);
    sum.flags |= recipe.base == 0 ? StreamSum::kBase : 1;
  }
  if (recipe.is_store) sum.flags |= StreamSum::kStore;
  if (recipe.is_store && instructions_[recipe.instruction].is_non_temporal)
    sum.flags |= StreamSum::kPast;
  return sum;
}

std::span<const StreamSum> StreamBlock::resolved(const std::byte* record,
                                                 StreamScratch& scratch) const {
  scratch.sums.clear();
  for (const StreamTouch& touch : touches(record, scratch))
    scratch.sums.push_back(
        {.constant = touch.address,
         .size = touch.size,
         .flags = static_cast<std::uint8_t>((touch.is_store ? StreamSum::kStore : 0) |
                                            (touch.is_past ? StreamSum::kPast : 0)),
         .instruction = touch.instruction});
  return scratch.sums;
}

std::span<const StreamTouch> StreamBlock::touches(const std::byte* record,
                                                  StreamScratch& scratch) const {
  std::vector<StreamTouch>& touches = scratch.touches;
  touches.clear();
  for (const StreamSum& each : plain_) touches.push_back(each.touch(record));
  for (const Recipe& recipe : recipes_) {
    if (recipe.kind == Recipe::Kind::repeated)
      add_range(recipe, record, touches);
    else if (recipe.kind == Recipe::Kind::other)
      add_other(recipe, record, scratch);
    else
      touches.push_back({.address = address_of(recipe, record),
                         .size = recipe.size,
                         .instruction = recipe.instruction,
                         .is_store = recipe.is_store});
  }
  if (!is_plain_)
    for (StreamTouch& touch : touches)
      touch.is_past = touch.is_store && instructions_[touch.instruction].is_non_temporal;
  return touches;
}

std::uint64_t StreamBlock::address_of(const Recipe& recipe, const std::byte* record) {
  std::uint64_t address = recipe.constant;
  if (recipe.base != 0) address += word_at(record, recipe.base);
  if (recipe.index != 0) address += word_at(record, recipe.index) * recipe.scale;
  if (recipe.is_32_bit) address &= 0xFFFFFFFF;
  if (recipe.segment != 0) address += word_at(record, recipe.segment);
  return address;
}

void StreamBlock::add_range(const Recipe& recipe, const std::byte* record,
                            std::vector<StreamTouch>& touches) {
  const std::uint64_t mask = recipe.is_32_bit ? 0xFFFFFFFF : ~0ull;
  const std::uint64_t before = word_at(record, recipe.base) & mask;
  const std::uint64_t after = word_at(record, recipe.base_after) & mask;
  const std::uint64_t count =
      ((word_at(record, recipe.count) & mask) - (word_at(record, recipe.count_after) & mask)) &
      mask;
  constexpr std::uint64_t kMostBytes = 1ull << 47;  // of user memory
  const std::uint64_t bytes = count * recipe.size;
  if (count == 0 || recipe.size == 0 || count > kMostBytes / recipe.size) return;
  const bool is_down = after < before;
  std::uint64_t start = recipe.constant + before;
  if (is_down) start -= bytes - recipe.size;
  start &= mask;
  if (recipe.segment != 0) start += word_at(record, recipe.segment);
  for (std::uint64_t done = 0; done < bytes;) {
    const auto piece = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes - done, kMaxRange));
    touches.push_back({.address = is_down ? start + bytes - done - piece : start + done,
                       .size = piece,
                       .instruction = recipe.instruction,
                       .is_store = recipe.is_store,
                       .is_down = is_down,
                       .element = static_cast<std::uint8_t>(recipe.size)});
    done += piece;
  }
}

void StreamBlock::add_other(const Recipe& recipe, const std::byte* record,
                            StreamScratch& scratch) const {
  const Other& other = others_[recipe.other];
  for (const auto& [word, offset] : other.words) apply(word, record + offset, scratch.state);
  scratch.state.next_rip = other.next_rip;
  std::vector<Touch> found;
  engine::resolve(other.facts, scratch.state, 0, found);
  for (const Touch& touch : found)
    scratch.touches.push_back({.address = touch.address,
                               .size = touch.size,
                               .instruction = recipe.instruction,
                               .is_store = touch.is_store});
}

}  // namespace loft::engine
