// The door in the code cache (door.hpp).
#include <cstring>

#include "engine/runtime/translation.hpp"

namespace loft::engine::runtime {

// The nop has been counted. A signal that comes meanwhile is held by the engine: it is looked for
// when the thread is back.
void Translation::emit_door(const Instruction& instruction) {
  point(Point::ours);
  emit_.load_value(kRcx, instruction.next_pc());
  emit_.store_context(CTX_NEXT_PC, kRcx);
  emit_.put(0x48, 0x8D, 0x0D);  // lea rcx, [rip + past the jump]
  std::uint8_t* displacement = emit_.at();
  emit_.put_32(0);
  const std::uint8_t* behind_lea = emit_.at();
  emit_.store_context(CTX_DOOR_RETURN, kRcx);
  emit_.load_value(kRcx, block_points_[blocks_ - 1].number << kDoorShift |
                             static_cast<std::uint32_t>(instruction.door));
  emit_.jump_context(CTX_DOOR);
  const auto distance = static_cast<std::int32_t>(emit_.at() - behind_lea);
  std::memcpy(displacement, &distance, sizeof distance);
  ++index_;
  at_pc_ = instruction.next_pc();
  point(Point::ours);
  emit_.load_context(kRcx, CTX_PENDING);
  constexpr std::uint8_t kJumpBytes = 8;
  emit_.put(0xE3, kJumpBytes);  // jrcxz
  emit_.jump_context(CTX_LEAVE);
}

}  // namespace loft::engine::runtime
