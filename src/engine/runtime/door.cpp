#include "engine/runtime/door.hpp"

#include <cstring>

#include "engine/runtime/alarms.hpp"
#include "engine/runtime/context.hpp"
#include "engine/runtime/event_sets.hpp"
#include "engine/runtime/mark.hpp"

namespace loft::engine::runtime {

Door door_at(const std::uint8_t* bytes, std::uint32_t length) {
  constexpr std::uint8_t kNop[] = {0x0F, 0x1F, 0x84, 0x00};
  constexpr std::uint8_t kMagic[] = {0x46, 0x4F, 0x4C};
  if (length != 8 || std::memcmp(bytes, kNop, sizeof kNop) != 0 ||
      std::memcmp(bytes + 5, kMagic, sizeof kMagic) != 0)
    return Door::none;
  const auto door = static_cast<Door>(bytes[4]);
  const bool is_mark = door == Door::begin || door == Door::end;
  return door == Door::call || (is_mark && has_marks()) ? door : Door::none;
}

namespace {

std::uint64_t answer(Context* context) {
  const std::uint64_t a = context->regs[kRsi];
  const std::uint64_t b = context->regs[kRdx];
  switch (static_cast<door::Request>(context->regs[kRdi])) {
    case door::Request::hello:
      return door::kVersion;
    case door::Request::open:
      return open_events(a, b);
    case door::Request::read:
      return read_events(context, a, b);
    case door::Request::close:
      close_events(a);
      return 1;
    case door::Request::arm:
      return arm(context, a);
    case door::Request::disarm:
      return disarm(context, a);
    case door::Request::read_others:
      return read_others(a);
  }
  return 0;
}

}  // namespace

Context* serve_door(Context* context) {
  const auto what = static_cast<std::uint32_t>(context->exit_link);
  const auto* name = reinterpret_cast<const char*>(context->regs[kRdi]);
  const std::uint64_t length = context->regs[kRsi];
  switch (static_cast<Door>(what & ((1u << kDoorShift) - 1))) {
    case Door::begin:
      return begin_mark(context, name, length);
    case Door::end:
      return end_mark(context, name, length, what >> kDoorShift);
    default:
      context->regs[kRax] = answer(context);
      return context;
  }
}

}  // namespace loft::engine::runtime
