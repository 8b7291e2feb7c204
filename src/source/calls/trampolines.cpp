#ifdef LOFT_HAS_ENGINE

#include "source/calls/trampolines.hpp"

#include <cstring>
#include <limits>

#include <probes/calls/wire.h>
#include "base/embedded_file.hpp"

LOFT_EMBEDDED_FILE(loft_calls_agent, LOFT_CALLS_AGENT)

namespace loft::source::calls {
namespace {

using Kind = InstructionKind;

constexpr std::size_t kLongestMoved = 24;  // of one instruction: a call, with its return address

Bytes agent_code() { return std::as_bytes(std::span(LOFT_EMBEDDED_TEXT(loft_calls_agent))); }

loft_calls_agent agent() {
  loft_calls_agent head;
  std::memcpy(&head, agent_code().data(), sizeof head);
  return head;
}

bool fits_32_bits(std::int64_t distance) {
  return distance >= std::numeric_limits<std::int32_t>::min() &&
         distance <= std::numeric_limits<std::int32_t>::max();
}

std::size_t space_for(const Region& region) { return kLongestMoved * region.moved.size() + 16; }

}  // namespace

std::size_t TrampolineArea::space_for_agent() { return agent_code().size() + 64; }

std::size_t TrampolineArea::space_for(const PatchPlan& plan) {
  std::size_t size = 0;
  if (plan.entry) size += calls::space_for(*plan.entry) + agent().entry_size;
  for (const Region& region : plan.exits) size += calls::space_for(region);
  return size;
}

TrampolineArea::TrampolineArea(std::uint64_t address) : address_(address) {
  const Bytes agent = agent_code();
  code_.assign(agent.begin(), agent.end());
}

std::uint64_t TrampolineArea::loader_trap() const { return address_ + agent().loader_trap; }

void TrampolineArea::put(std::initializer_list<unsigned> bytes) {
  for (const unsigned byte : bytes) code_.push_back(static_cast<std::byte>(byte));
}

void TrampolineArea::put_u32(std::uint64_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    code_.push_back(static_cast<std::byte>(value >> shift & 0xff));
}

void TrampolineArea::set_u32(std::size_t at, std::uint32_t value) {
  std::memcpy(code_.data() + at, &value, sizeof value);
}

// The last operand of an instruction: a distance from behind it.
bool TrampolineArea::put_relative(std::uint64_t target) {
  const auto distance = static_cast<std::int64_t>(target - (here() + 4));
  put_u32(static_cast<std::uint64_t>(distance));
  return fits_32_bits(distance);
}

bool TrampolineArea::put_jump(std::uint64_t target) {
  put({0xe9});
  return put_relative(target);
}

void TrampolineArea::put_template(std::uint32_t at, std::uint32_t size) {
  const Bytes part = agent_code().subspan(at, size);
  code_.insert(code_.end(), part.begin(), part.end());
}

// Where it begins.
std::uint64_t TrampolineArea::put_hook(const Hook& hook) {
  const loft_calls_agent head = agent();
  const std::size_t base = code_.size();
  const auto link = [&](std::uint32_t at, std::uint32_t target) {
    set_u32(base + at, target - static_cast<std::uint32_t>(base + at + 4));
  };
  const std::uint32_t sums = hook.sums & ~std::uint32_t{LOFT_CALLS_FACTS};
  if (hook.kind == Hook::Kind::count) {
    put_template(head.count_template, head.count_size);
    for (const std::uint32_t at : head.count_ids) set_u32(base + at, sums + LOFT_CALLS_CALLS);
    return address_ + base;
  }
  if (hook.kind == Hook::Kind::change) {
    put_template(head.switch_template, head.switch_size);
    set_u32(base + head.switch_arguments, hook.leave);
    link(head.switch_call, head.on_switch);
    return address_ + base;
  }
  if (hook.kind == Hook::Kind::loader) {
    put_template(head.loader_template, head.loader_size);
    link(head.loader_call, head.on_loader);
    return address_ + base;
  }
  put_template(head.entry_template, head.entry_size);
  set_u32(base + head.entry_ids[0], hook.sums);
  set_u32(base + head.entry_ids[1], hook.sums);
  set_u32(base + head.entry_ids[2], sums + LOFT_CALLS_OPEN);
  set_u32(base + head.entry_key, sums);
  link(head.entry_slow, head.on_entry);
  link(head.entry_node, head.on_node);
  return address_ + base + head.entry_start;
}

bool TrampolineArea::put_copy(const CodeFile& file, const Instruction& instruction,
                              std::uint64_t bias) {
  const Bytes bytes = file.code_at(instruction.address).first(instruction.length);
  const std::size_t at = code_.size();
  code_.insert(code_.end(), bytes.begin(), bytes.end());
  if (!instruction.is_rip_relative) return true;
  const auto distance = static_cast<std::int64_t>(instruction.target + bias - here());
  set_u32(at + instruction.displacement_at, static_cast<std::uint32_t>(distance));
  return fits_32_bits(distance);
}

// What a call pushes, without changing a register or a flag.
void TrampolineArea::put_return_address(std::uint64_t address) {
  put({0x48, 0x8d, 0x64, 0x24, 0xf8});  // lea rsp, [rsp-8]
  put({0xc7, 0x04, 0x24});              // mov dword ptr [rsp], ...
  put_u32(address);
  put({0xc7, 0x44, 0x24, 0x04});  // mov dword ptr [rsp+4], ...
  put_u32(address >> 32);
}

bool TrampolineArea::put_instruction(const CodeFile& file, const Instruction& instruction,
                                     std::uint64_t bias) {
  switch (instruction.kind) {
    case Kind::conditional_jump:
      put({0x0f, 0x80u | instruction.condition});
      return put_relative(instruction.target + bias);
    case Kind::jump:
      return put_jump(instruction.target + bias);
    case Kind::call:
      put_return_address(instruction.end() + bias);
      return put_jump(instruction.target + bias);
    case Kind::indirect_call: {
      put_return_address(instruction.end() + bias);
      const std::size_t at = code_.size();
      if (!put_copy(file, instruction, bias)) return false;
      // The same operand, but it jumps: the operation is in the middle of this byte.
      std::byte& modrm = code_[at + instruction.modrm_at];
      modrm = (modrm & std::byte{0xc7}) | std::byte{4 << 3};
      return true;
    }
    default:
      return put_copy(file, instruction, bias);
  }
}

bool TrampolineArea::put_moved(const CodeFile& file, const Region& region, std::uint64_t bias,
                               bool sees_return) {
  for (const Instruction& instruction : region.moved) {
    if (instruction.address != region.start) moves_.push_back({instruction.address + bias, here()});
    const bool is_put = instruction.kind == Kind::ret && sees_return
                            ? put_jump(address_ + agent().on_exit)
                            : put_instruction(file, instruction, bias);
    if (!is_put) return false;
  }
  const Instruction& last = region.moved.back();
  if (!last.falls_through() || last.kind == Kind::call || last.kind == Kind::indirect_call)
    return true;
  return put_jump(region.end() + bias);
}

Result<std::vector<Patch>> TrampolineArea::add(const CodeFile& file, const PatchPlan& plan,
                                               std::uint64_t bias, const Hook& hook) {
  const std::size_t before = code_.size();
  const std::size_t moves_before = moves_.size();
  std::vector<Patch> patches;
  bool is_in_reach = true;
  const auto patch = [&](std::uint64_t at, std::uint64_t to) {
    Patch made;
    made.address = at + bias;
    const auto distance = static_cast<std::int64_t>(to - (made.address + kPatchSize));
    is_in_reach = is_in_reach && fits_32_bits(distance);
    const auto operand = static_cast<std::uint32_t>(distance);
    made.bytes[0] = std::byte{0xe9};
    std::memcpy(made.bytes.data() + 1, &operand, sizeof operand);
    const Bytes original = file.code_at(at).first(kPatchSize);
    std::copy(original.begin(), original.end(), made.original.begin());
    patches.push_back(made);
  };
  if (plan.entry && hook.kind != Hook::Kind::returns) {
    patch(plan.entry->start, put_hook(hook));
    is_in_reach = put_moved(file, *plan.entry, bias, hook.kind == Hook::Kind::call) && is_in_reach;
  }
  for (const Region& region : plan.exits) {
    patch(region.start, here());
    is_in_reach = put_moved(file, region, bias, true) && is_in_reach;
  }
  if (is_in_reach) return patches;
  code_.resize(before);
  moves_.resize(moves_before);
  return failure(ErrorKind::unsupported, "watch a function",
                 "something that it refers to is too far away from where there is room");
}

}  // namespace loft::source::calls

#endif
