// Writes machine code. Only the handful of instructions that the engine adds to a program; none of
// them changes a flag unless its name says so.
#pragma once

#include <cstdint>
#include <cstring>

#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

inline bool fits_32(std::int64_t value) { return value == static_cast<std::int32_t>(value); }

class Emitter {
 public:
  explicit Emitter(std::uint8_t* at) : at_(at) {}
  [[nodiscard]] std::uint8_t* at() const { return at_; }

  void bytes(const void* from, std::size_t size) {
    std::memcpy(at_, from, size);
    at_ += size;
  }
  template <typename... Bytes>
  void put(Bytes... values) {
    ((*at_++ = static_cast<std::uint8_t>(values)), ...);
  }
  void put_32(std::uint32_t value) { bytes(&value, 4); }
  void put_64(std::uint64_t value) { bytes(&value, 8); }

  // mov gs:[offset], reg and mov reg, gs:[offset]
  void store_context(std::uint32_t offset, int reg) { context_move(0x89, offset, reg); }
  void load_context(int reg, std::uint32_t offset) { context_move(0x8B, offset, reg); }
  // mov dword gs:[offset], value
  void store_context_value(std::uint32_t offset, std::uint32_t value) {
    put(0x65, 0xC7, 0x04, 0x25);
    put_32(offset);
    put_32(value);
  }
  // jmp gs:[offset]
  void jump_context(std::uint32_t offset) {
    put(0x65, 0xFF, 0x24, 0x25);
    put_32(offset);
  }
  // add qword gs:[offset], amount, or the shorter inc
  void add_context_changing_flags(std::uint32_t offset, std::uint8_t amount) {
    if (amount == 1) {
      put(0x65, 0x48, 0xFF, 0x04, 0x25);
      return put_32(offset);
    }
    put(0x65, 0x48, 0x83, 0x04, 0x25);
    put_32(offset);
    put(amount);
  }
  // mov reg, value
  void load_value(int reg, std::uint64_t value) {
    if (value >> 32 == 0) {
      if (reg >= 8) put(0x41);
      put(0xB8 | (reg & 7));
      put_32(static_cast<std::uint32_t>(value));
      return;
    }
    put(0x48 | (reg >= 8 ? 1 : 0), 0xB8 | (reg & 7));
    put_64(value);
  }
  // lea reg, [reg + amount], for any reg but rsp and r12
  void add_without_flags(int reg, std::int8_t amount) {
    put(0x48 | (reg >= 8 ? 5 : 0), 0x8D, 0x40 | (reg & 7) << 3 | (reg & 7), amount);
  }
  // The counter at gs:[offset] by way of r11, which keeps its value: few programs wait for it
  void count_without_flags(std::uint32_t offset, std::int8_t amount) {
    store_context(CTX_SPILL2, kR11);
    load_context(kR11, offset);
    add_without_flags(kR11, amount);
    store_context(offset, kR11);
    load_context(kR11, CTX_SPILL2);
  }
  // jmp rel32, or through a literal when it is too far; the bytes of the short form can be patched.
  void jump(const std::uint8_t* target) {
    const std::int64_t distance = target - (at_ + 5);
    if (fits_32(distance)) {
      put(0xE9);
      put_32(static_cast<std::uint32_t>(distance));
    } else {
      jump_far(reinterpret_cast<std::uint64_t>(target));
    }
  }
  void jump_far(std::uint64_t target) {
    put(0xFF, 0x25);
    put_32(0);
    put_64(target);
  }
  // So that a displacement `offset` bytes ahead can be replaced by one store.
  void align_patch(unsigned offset) {
    while (((reinterpret_cast<std::uint64_t>(at_) + offset) & 15) > 12) put(0x90);
  }

 private:
  void context_move(int opcode, std::uint32_t offset, int reg) {
    put(0x65, 0x48 | (reg >= 8 ? 4 : 0), opcode, 0x04 | (reg & 7) << 3, 0x25);
    put_32(offset);
  }

  std::uint8_t* at_;
};

}  // namespace loft::engine::runtime
