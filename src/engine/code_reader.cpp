#include "engine/code_reader.hpp"

#include <algorithm>
#include <cstring>

#include "engine/classify/facts.hpp"

namespace loft::engine {
namespace {

// The bytes that decide the kind. Where a direct branch leads does not.
std::string_view deciding_bytes(std::string_view code, const ZydisDecodedInstruction& decoded) {
  const auto& immediate = decoded.raw.imm[0];
  return code.substr(0, immediate.is_relative ? immediate.offset : decoded.length);
}

// At most 15 bytes, and how many in the last one.
std::array<std::uint64_t, 2> packed(std::string_view code) {
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), code.data(), code.size());
  words[1] |= std::uint64_t{code.size()} << 56;
  return words;
}

std::uint64_t hash_of_code(std::string_view bytes) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  std::uint64_t hash = bytes.size();
  const auto add = [&](const char* from, std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, size);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  };
  for (; bytes.size() >= sizeof hash; bytes.remove_prefix(sizeof hash))
    add(bytes.data(), sizeof hash);
  add(bytes.data(), bytes.size());
  return hash;
}

}  // namespace

CodeReader::CodeReader() {
  ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

void CodeReader::read(std::span<const std::uint8_t> code, std::vector<KindId>& kinds,
                      std::vector<std::uint8_t>& lengths) {
  if (code.empty()) return;
  make_room();
  // A copy: the program may write what it shares with us.
  const std::size_t place = bytes_.size();
  bytes_.insert(bytes_.end(), code.begin(), code.end());
  const std::string_view bytes(bytes_.data() + place, code.size());
  const std::uint64_t hash = hash_of_code(bytes);
  Remembered& block = find(hash, bytes);
  if (block.size == 0) {
    block = {hash, static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(bytes.size()),
             decode(bytes)};
    ++block_count_;
  } else {
    bytes_.resize(place);
  }
  const auto [first, count] = block.kinds;
  for (const Known& known : std::span(known_).subspan(first, count)) {
    kinds.push_back(known.kind);
    lengths.push_back(known.length);
  }
}

// The block with these bytes, or the free place for it.
CodeReader::Remembered& CodeReader::find(std::uint64_t hash, std::string_view code) {
  std::size_t at = hash & (blocks_.size() - 1);
  while (blocks_[at].size != 0 &&
         (blocks_[at].hash != hash ||
          std::string_view(bytes_.data() + blocks_[at].place, blocks_[at].size) != code))
    at = (at + 1) & (blocks_.size() - 1);
  return blocks_[at];
}

// For one more block. At most half of the places are taken.
void CodeReader::make_room() {
  constexpr std::size_t kFirst = 4096;
  constexpr std::size_t kMostRemembered = 1u << 20;  // a program may make code without end
  constexpr std::size_t kMostBytes = 1u << 30;
  if (block_count_ >= kMostRemembered || bytes_.size() >= kMostBytes) {
    blocks_.assign(kFirst, {});
    bytes_.clear();
    known_.clear();
    block_count_ = 0;
  }
  if (block_count_ * 2 < blocks_.size()) return;
  std::vector<Remembered> old(std::max(kFirst, blocks_.size() * 2));
  old.swap(blocks_);
  for (const Remembered& block : old)
    if (block.size != 0) find(block.hash, {bytes_.data() + block.place, block.size}) = block;
}

// The instruction with these bytes, or the free place for it.
CodeReader::RememberedInstruction& CodeReader::find(const std::array<std::uint64_t, 2>& bytes) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  const std::uint64_t hash = (bytes[0] * kFactor ^ bytes[1]) * kFactor;
  std::size_t at = hash >> 32 & (instructions_.size() - 1);
  while (instructions_[at].bytes[1] != 0 && instructions_[at].bytes != bytes)
    at = (at + 1) & (instructions_.size() - 1);
  return instructions_[at];
}

void CodeReader::make_room_for_instruction() {
  constexpr std::size_t kFirst = 4096;
  constexpr std::size_t kMostRemembered = 1u << 20;
  if (instruction_count_ >= kMostRemembered) {
    instructions_.assign(kFirst, {});
    instruction_count_ = 0;
  }
  if (instruction_count_ * 2 < instructions_.size()) return;
  std::vector<RememberedInstruction> old(std::max(kFirst, instructions_.size() * 2));
  old.swap(instructions_);
  for (const RememberedInstruction& known : old)
    if (known.bytes[1] != 0) find(known.bytes) = known;
}

CodeReader::Range CodeReader::decode(std::string_view code) {
  const auto first = static_cast<std::uint32_t>(known_.size());
  while (!code.empty()) {
    const Known known = decode_one(code);
    if (known.length == 0) break;
    known_.push_back(known);
    code.remove_prefix(known.length);
  }
  return {first, static_cast<std::uint32_t>(known_.size()) - first};
}

CodeReader::Known CodeReader::decode_one(std::string_view code) {
  ZydisDecodedInstruction instruction;
  ZydisDecoderContext context;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, &context, code.data(), code.size(),
                                                  &instruction)))
    return {};
  make_room_for_instruction();
  const auto bytes = packed(deciding_bytes(code, instruction));
  RememberedInstruction& known = find(bytes);
  if (known.bytes != bytes) {
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder_, &context, &instruction, operands,
                                                 instruction.operand_count)))
      return {};
    known = {bytes, kinds_.intern(classify(instruction, operands).kind)};
    ++instruction_count_;
  }
  return {known.kind, instruction.length};
}

}  // namespace loft::engine
