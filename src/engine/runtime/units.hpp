// Code that adds up what only the run of an instruction shows: iterations of a string instruction,
// lanes of a mask, bytes of an xsave area. All registers and flags are as before afterwards.
#pragma once

#include <cstdint>

#include "engine/runtime/emitter.hpp"
#include "engine/runtime/instruction.hpp"

namespace loft::engine::runtime {

class UnitEmitter {
 public:
  explicit UnitEmitter(Emitter& emitter) : emit_(emitter) {}

  // Around a repeated instruction: the count register before it, less what is left after it.
  void add_iterations(std::uint32_t counter);
  void take_back_iterations(std::uint32_t counter);

  // Any other unit: load() leaves it in rcx and flags free to change, finish() gives both back.
  // Those of tiles need the configuration that store_tiles() puts into the context.
  void load(const UnitPlan& plan);
  void add_to(std::uint32_t counter);
  void finish();
  void store_tiles();

 private:
  void load_mask(const UnitPlan& plan);
  void fold_mask(const UnitPlan& plan);
  void load_state_bytes();
  void load_tile(const UnitPlan& plan);
  void load_rows(unsigned tile);
  void multiply_by_row_bytes(unsigned tile);

  Emitter& emit_;
};

}  // namespace loft::engine::runtime
