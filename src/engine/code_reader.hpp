// From the bytes of a block to the kinds of its instructions. Blocks recur: every process of a run
// has those of the loader and of libc, and several traces hold the same tail. Bytes that were read
// before are not decoded again.
//
//   CodeReader reader;
//   reader.read(shared.code(block), kinds, lengths);
//   reader.kinds()[kinds.front()];
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/classify/events.hpp"
#include "engine/classify/kind.hpp"

namespace loft::engine {

class CodeReader {
 public:
  CodeReader();

  // Appends the kind and the length in bytes of each instruction, up to the first that does not
  // decode.
  void read(std::span<const std::uint8_t> code, std::vector<KindId>& kinds,
            std::vector<std::uint8_t>& lengths);

  [[nodiscard]] const KindTable& kinds() const { return kinds_; }

 private:
  struct Known {
    KindId kind = 0;
    std::uint8_t length = 0;
  };
  struct Range {
    std::uint32_t first = 0;  // in known_
    std::uint32_t count = 0;
  };

  // A block that was read: its bytes, and what they are. Open addressing by the hash.
  struct Remembered {
    std::uint64_t hash = 0;
    std::uint32_t place = 0;  // in bytes_
    std::uint32_t size = 0;   // 0: free
    Range kinds;
  };

  // An instruction that was read: its deciding bytes, behind them how many they are.
  struct RememberedInstruction {
    std::array<std::uint64_t, 2> bytes{};  // 0: free
    KindId kind = 0;
  };

  Remembered& find(std::uint64_t hash, std::string_view code);
  RememberedInstruction& find(const std::array<std::uint64_t, 2>& bytes);
  void make_room_for_instruction();
  void make_room();
  Range decode(std::string_view code);
  // The kind of the instruction at the start of `code`, and its length; 0 when it does not decode.
  Known decode_one(std::string_view code);

  ZydisDecoder decoder_;
  KindTable kinds_;
  std::vector<Known> known_;
  std::vector<char> bytes_;  // of the blocks that are remembered
  std::vector<Remembered> blocks_;
  std::size_t block_count_ = 0;
  std::vector<RememberedInstruction> instructions_;
  std::size_t instruction_count_ = 0;
};

}  // namespace loft::engine
