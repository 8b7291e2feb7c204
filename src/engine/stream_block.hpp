// A block of the address stream: what is static about it, and how the addresses of one execution
// follow from the words of its record (classify/stream_plan.hpp). Decoded once.
//
//   const StreamBlock block(entry, code);
//   block.for_each_touch(record, scratch, take);     // record: block.record_bytes() bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "engine/classify/resolve.hpp"
#include "engine/classify/static_instruction.hpp"
#include "engine/classify/stream_plan.hpp"
#include "engine/layout.hpp"

namespace loft::engine {

// What one instruction touched. A string instruction gives ranges: all that it read, then all that
// it wrote, in pieces of at most kMaxRange bytes.
struct StreamTouch {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  std::uint8_t instruction = 0;  // its index in the block
  bool is_store = false;
  bool is_down = false;      // of a range: it was passed from its end to its start
  std::uint8_t element = 0;  // of a range: bytes of one access; 0 for a single access
  bool is_past = false;      // a store past the caches

  bool operator==(const StreamTouch&) const = default;
};
inline constexpr std::uint32_t kMaxRange = 1u << 30;

// How the address of an access follows from the words of a record: a sum of two at most.
struct StreamSum {
  std::uint64_t constant = 0;
  std::uint32_t size = 0;
  std::uint8_t base = 0;  // number of a word in the record
  std::uint8_t index = 0;
  std::uint8_t flags = 0;        // below kBase: what the index is multiplied with, 0 for none
  std::uint8_t instruction = 0;  // its index in the block

  static constexpr std::uint8_t kBase = 16, kStore = 32, kPast = 64;

  [[gnu::always_inline]] StreamTouch touch(const std::byte* record) const {
    std::uint64_t words[2];
    std::memcpy(&words[0], record + base * std::size_t{8}, 8);
    std::memcpy(&words[1], record + index * std::size_t{8}, 8);
    words[0] &= 0 - std::uint64_t{(flags & kBase) != 0};
    return {.address = constant + words[0] + words[1] * (flags & (kBase - 1u)),
            .size = size,
            .instruction = instruction,
            .is_store = (flags & kStore) != 0,
            .is_past = (flags & kPast) != 0};
  }
};

// Memory that blocks work out addresses in.
struct StreamScratch {
  RegisterState state;
  std::vector<StreamTouch> touches;
  std::vector<StreamSum> sums;
};

class StreamBlock {
 public:
  StreamBlock() = default;
  StreamBlock(const BlockEntry& entry, std::span<const std::uint8_t> code);

  [[nodiscard]] std::uint64_t address() const { return address_; }
  // Where it goes on when its last instruction does not branch.
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::span<const StaticInstruction> instructions() const { return instructions_; }
  // Where its last instruction goes when it is a conditional branch and taken; 0: it is none.
  [[nodiscard]] std::uint64_t conditional_target() const { return conditional_target_; }
  // False: a signal interrupted the last instruction, and it starts again. What it touched is what
  // it did until then.
  [[nodiscard]] bool is_finished() const { return is_finished_; }
  [[nodiscard]] std::size_t record_bytes() const { return record_bytes_; }

  // How all of its addresses follow from a record, if all are sums.
  [[nodiscard]] std::optional<std::span<const StreamSum>> sums() const {
    if (!is_plain_) return std::nullopt;
    return plain_;
  }
  // Calls `take(touch)` for what one execution touched, in order. Of a range, its parts are not
  // told.
  template <class Take>
  [[gnu::always_inline]] void for_each_touch(const std::byte* record, StreamScratch& scratch,
                                             Take&& take) const {
    for (const StreamSum& each :
         is_plain_ ? std::span<const StreamSum>(plain_) : resolved(record, scratch))
      take(each.touch(record));
  }
  // All touches as a list, which is valid until the scratch memory is used again.
  [[nodiscard]] std::span<const StreamTouch> touches(const std::byte* record,
                                                     StreamScratch& scratch) const;

 private:
  // Offsets are those of words in the record; 0, where the block's number is, stands for none.
  struct Recipe {
    enum class Kind : std::uint8_t { plain, repeated, other };
    Kind kind = Kind::plain;
    bool is_store = false;
    bool is_32_bit = false;
    std::uint8_t instruction = 0;
    std::uint8_t scale = 0;
    std::uint16_t base = 0;
    std::uint16_t index = 0;
    std::uint16_t segment = 0;
    std::uint16_t base_after = 0;  // of repeated
    std::uint16_t count = 0;
    std::uint16_t count_after = 0;
    std::uint32_t size = 0;
    std::uint32_t other = 0;  // of other: index into others_
    std::uint64_t constant = 0;
  };
  // An instruction whose accesses depend on more than two registers: it is given to resolve().
  struct Other {
    struct Word {
      StreamWord word;
      std::uint16_t offset = 0;
    };
    InstructionFacts facts;
    std::uint64_t next_rip = 0;
    std::vector<Word> words;
  };
  class Maker;

  [[nodiscard]] static bool is_plain(const Recipe& recipe);
  [[nodiscard]] StreamSum sum_of(const Recipe& recipe) const;
  // What was touched as sums of nothing, for blocks that are not plain.
  [[nodiscard]] std::span<const StreamSum> resolved(const std::byte* record,
                                                    StreamScratch& scratch) const;
  [[nodiscard]] static std::uint64_t address_of(const Recipe& recipe, const std::byte* record);
  static void add_range(const Recipe& recipe, const std::byte* record,
                        std::vector<StreamTouch>& touches);
  void add_other(const Recipe& recipe, const std::byte* record, StreamScratch& scratch) const;

  // What every execution needs comes first.
  std::vector<StreamSum> plain_;  // of most blocks: all that they touch
  bool is_plain_ = true;
  std::uint64_t address_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t conditional_target_ = 0;
  bool is_finished_ = true;
  std::size_t record_bytes_ = 8;
  std::vector<StaticInstruction> instructions_;
  std::vector<Recipe> recipes_;
  std::vector<Other> others_;
};

}  // namespace loft::engine
