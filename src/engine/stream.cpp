#include "engine/stream.hpp"

#include <immintrin.h>

#include <cstring>

#include "engine/classify/stream_plan.hpp"

namespace loft::engine {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kDirectionFlag = 1u << 10;
constexpr std::size_t kNumberBytes = 8;

[[gnu::target("xsave")]] std::uint64_t enabled_state() { return _xgetbv(0); }

// Puts a word where resolve() looks for it.
void apply(const StreamWord& word, std::span<const std::byte> bytes, RegisterState& state) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
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
      std::memcpy(state.tile_config.data(), bytes.data(), state.tile_config.size());
      break;
    case StreamWord::Kind::vector:
      std::memcpy(state.vector[word.number & 31].data(), bytes.data(), word.bytes);
      break;
  }
}

// Which register of a repeated instruction tells its direction.
int moved_register(const InstructionFacts& facts) {
  for (const MemoryAccess& access : facts.memory())
    if (access.pattern == Pattern::repeated) return general_number(access.base);
  return -1;
}

}  // namespace

StreamReader::StreamReader(Shared& shared, StreamListener listener)
    : shared_(shared), listener_(std::move(listener)) {
  state_->xcr0 = enabled_state();
  shared_.set_reader(true);
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

StreamReader::~StreamReader() { shared_.set_reader(false); }

void StreamReader::work(const std::stop_token& stop) {
  std::uint32_t calls = 0;
  while (!stop.stop_requested()) {
    calls = shared_.await_stream(calls, 20ms);
    const auto slots = shared_.slots();
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot].stream_full == 0) continue;
      read(slot, shared_.stream(slot, slots[slot].stream_full));
      shared_.release_stream(slot);
    }
  }
}

void StreamReader::finish() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  const auto slots = shared_.slots();
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot)
    read(slot, shared_.stream(slot, shared_.unread_stream(slot)));
}

const StreamReader::Block& StreamReader::block_of(std::uint32_t number) {
  const auto [known, is_new] = blocks_.try_emplace(number);
  Block& block = known->second;
  if (!is_new) return block;
  const BlockEntry entry = shared_.block(number);
  block.address = entry.address;
  block.is_begun = entry.kind == static_cast<std::uint16_t>(BlockKind::begun);
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  for (auto code = shared_.code(entry); !code.empty();) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &instruction, operands)))
      break;
    block.instructions.push_back(classify(instruction, operands));
    code = code.subspan(instruction.length);
  }
  return block;
}

void StreamReader::read(std::uint32_t slot, std::span<const std::byte> bytes) {
  while (bytes.size() >= kNumberBytes) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    if (number == kNoBlock || number >= shared_.blocks()) break;
    bytes =
        read_block(slot, block_of(static_cast<std::uint32_t>(number)), bytes.subspan(kNumberBytes));
  }
  lost_bytes_ += bytes.size();
}

// One execution of a block. Gives back what follows its words.
std::span<const std::byte> StreamReader::read_block(std::uint32_t slot, const Block& block,
                                                    std::span<const std::byte> words) {
  StreamPlanner planner;
  std::uint64_t address = block.address;
  for (const InstructionFacts& facts : block.instructions) {
    std::array<std::uint64_t, 16> after{};
    const int moved = moved_register(facts);
    std::uint64_t before_count = 0;
    std::uint64_t before_place = 0;
    bool is_after = false;
    bool is_cut_off = false;
    touched_.clear();
    state_->next_rip = address + facts.length;
    planner.add(facts, [&](const StreamWord& word) {
      if (words.size() < word.bytes) {
        is_cut_off = true;
        return;
      }
      if (word.kind == StreamWord::Kind::general_after && !is_after) {
        is_after = true;
        before_count = state_->general[kRcx];
        before_place = state_->general[static_cast<std::size_t>(moved)];
        after = state_->general;
      }
      if (is_after)
        std::memcpy(&after[word.number & 15], words.data(), sizeof after[0]);
      else
        apply(word, words, *state_);
      words = words.subspan(word.bytes);
    });
    if (is_cut_off) return {};
    std::uint64_t iterations = 0;
    if (is_after) {
      iterations = before_count - after[kRcx];
      const bool is_down = after[static_cast<std::size_t>(moved)] < before_place;
      state_->rflags = is_down ? kDirectionFlag : 0;
    }
    resolve(facts, *state_, iterations, touched_);
    const bool is_finished = !block.is_begun || &facts != &block.instructions.back();
    listener_({slot, address, &facts, touched_, is_finished});
    if (is_after) state_->general = after;
    address += facts.length;
  }
  return words;
}

}  // namespace loft::engine
