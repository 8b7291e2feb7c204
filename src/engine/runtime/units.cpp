#include "engine/runtime/units.hpp"

#include "engine/runtime/context.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine::runtime {

void UnitEmitter::add_iterations(std::uint32_t counter) {
  emit_.store_context(CTX_SPILL2, kRax);
  emit_.load_context(kRax, counter);
  emit_.put(0x48, 0x8D, 0x04, 0x08);  // lea rax, [rax + rcx]
  emit_.store_context(counter, kRax);
  emit_.load_context(kRax, CTX_SPILL2);
}

void UnitEmitter::take_back_iterations(std::uint32_t counter) {
  emit_.store_context(CTX_SPILL2, kRax);
  emit_.load_context(kRax, counter);
  emit_.put(0x48, 0xF7, 0xD1);              // not rcx, which leaves the flags alone
  emit_.put(0x48, 0x8D, 0x44, 0x08, 0x01);  // lea rax, [rax + rcx + 1]
  emit_.put(0x48, 0xF7, 0xD1);              // not rcx
  emit_.store_context(counter, kRax);
  emit_.load_context(kRax, CTX_SPILL2);
}

// The mask's bits into rcx, those of the lanes that count and no others. Flags are free here.
void UnitEmitter::load_mask(const UnitPlan& plan) {
  const int modrm = 0xC8 | (plan.reg & 7);
  if (plan.unit <= Unit::mask_fold) {
    emit_.put(0xC4, 0xE1, 0xFB, 0x93, modrm);  // kmovq rcx, k
  } else if (plan.lane_bytes == 1 && plan.lanes == 8) {
    emit_.put(0x0F, 0xD7, modrm);  // pmovmskb ecx, mm
  } else if (plan.lane_bytes == 1) {
    emit_.put(0x66);
    if (plan.reg >= 8) emit_.put(0x41);
    emit_.put(0x0F, 0xD7, modrm);  // pmovmskb ecx, xmm
  } else {
    const bool wide = plan.lanes * plan.lane_bytes > 16;
    emit_.put(0xC4, plan.reg >= 8 ? 0xC1 : 0xE1);  // vmovmskps or vmovmskpd ecx, xmm or ymm
    emit_.put(0x78 | (wide ? 4 : 0) | (plan.lane_bytes == 8 ? 1 : 0), 0x50, modrm);
  }
  if (plan.lanes < 64) emit_.put(0x48, 0xC1, 0xE1, 64 - plan.lanes);  // shl rcx, 64 - lanes
}

// Lanes that repeat the elements in memory: an element counts when one of its lanes does.
void UnitEmitter::fold_mask(const UnitPlan& plan) {
  emit_.put(0xC4, 0xE1, 0xFB, 0x93, 0xC8 | (plan.reg & 7));  // kmovq rcx, k
  emit_.put(0x81, 0xE1);                                     // and ecx, lanes
  emit_.put_32((1u << plan.lanes) - 1);
  emit_.store_context(CTX_SPILL2, kRdx);
  for (unsigned half = plan.lanes / 2u; half >= plan.elements; half /= 2) {
    emit_.put(0x89, 0xCA);        // mov edx, ecx
    emit_.put(0xC1, 0xEA, half);  // shr edx, half
    emit_.put(0x09, 0xD1);        // or ecx, edx
  }
  emit_.load_context(kRdx, CTX_SPILL2);
  emit_.put(0x48, 0xC1, 0xE1, 64 - plan.elements);  // shl rcx, 64 - elements
}

// ecx: the mask of components. Those above the tenth are AMX and what comes behind it.
void UnitEmitter::load_state_bytes() {
  if (has_high_states()) {
    emit_.store_context(CTX_SPILL2, kRdx);
    emit_.put(0x89, 0xCA);              // mov edx, ecx
    emit_.put(0xC1, 0xEA, 17);          // shr edx, 17
    emit_.put(0x83, 0xE2, 7);           // and edx, 7
    emit_.put(0x0F, 0xB7, 0x14, 0x55);  // movzx edx, word [rdx * 2 + table]
    emit_.put_32(high_state_table());
  }
  emit_.put(0x81, 0xE1, 0xFF, 0x03, 0x00, 0x00);  // and ecx, 1023
  emit_.put(0x0F, 0xB7, 0x0C, 0x4D);              // movzx ecx, word [rcx * 2 + table]
  emit_.put_32(state_table());
  if (has_high_states()) {
    emit_.put(0x01, 0xD1);  // add ecx, edx
    emit_.load_context(kRdx, CTX_SPILL2);
  }
}

// sttilecfg gs:[tiles]
void UnitEmitter::store_tiles() {
  emit_.put(0x65, 0xC4, 0xE2, 0x79, 0x49, 0x04, 0x25);
  emit_.put_32(CTX_TILES);
}

// movzx ecx, byte gs:[rows of the tile]
void UnitEmitter::load_rows(unsigned tile) {
  constexpr std::uint32_t kRows = 48;
  emit_.put(0x65, 0x0F, 0xB6, 0x0C, 0x25);
  emit_.put_32(CTX_TILES + kRows + tile);
}

// movzx edx, word gs:[bytes per row of the tile]; imul ecx, edx
void UnitEmitter::multiply_by_row_bytes(unsigned tile) {
  constexpr std::uint32_t kRowBytes = 16;
  emit_.put(0x65, 0x0F, 0xB7, 0x14, 0x25);
  emit_.put_32(CTX_TILES + kRowBytes + 2 * tile);
  emit_.put(0x0F, 0xAF, 0xCA);
}

void UnitEmitter::load_tile(const UnitPlan& plan) {
  load_rows(plan.reg);
  if (plan.unit == Unit::tile_rows) return;
  emit_.store_context(CTX_SPILL2, kRdx);
  multiply_by_row_bytes(plan.reg);
  if (plan.unit == Unit::tile_ops) {
    multiply_by_row_bytes(plan.left);
    emit_.put(0xC1, 0xE9, 4);  // shr ecx, 4: both are numbers of four bytes
  }
  emit_.load_context(kRdx, CTX_SPILL2);
}

void UnitEmitter::load(const UnitPlan& plan) {
  emit_.store_context(CTX_SPILL0, kRax);
  emit_.store_context(CTX_SPILL1, kRcx);
  if (plan.unit == Unit::state_bytes) emit_.put(0x89, 0xC1);  // mov ecx, eax
  emit_.put(0x9F, 0x0F, 0x90, 0xC0);                          // lahf; seto al
  switch (plan.unit) {
    case Unit::state_bytes:
      load_state_bytes();
      break;
    case Unit::tile_rows:
    case Unit::tile_bytes:
    case Unit::tile_ops:
      load_tile(plan);
      break;
    case Unit::mask_any:
    case Unit::sign_any:
      load_mask(plan);
      emit_.put(0x48, 0xF7, 0xD9);  // neg rcx
      emit_.put(0x48, 0x19, 0xC9);  // sbb rcx, rcx
      emit_.put(0x48, 0xF7, 0xD9);  // neg rcx: 1 when there was a bit
      break;
    default:
      if (plan.unit == Unit::mask_fold)
        fold_mask(plan);
      else
        load_mask(plan);
      emit_.put(0xF3, 0x48, 0x0F, 0xB8, 0xC9);  // popcnt rcx, rcx
      break;
  }
}

void UnitEmitter::add_to(std::uint32_t counter) {
  emit_.put(0x65, 0x48, 0x01, 0x0C, 0x25);  // add gs:[counter], rcx
  emit_.put_32(counter);
}

void UnitEmitter::finish() {
  emit_.put(0x04, 0x7F, 0x9E);  // add al, 127; sahf
  emit_.load_context(kRcx, CTX_SPILL1);
  emit_.load_context(kRax, CTX_SPILL0);
}

}  // namespace loft::engine::runtime
