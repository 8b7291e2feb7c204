// Whether a region has the name that the program gives, in general registers alone.
#pragma once

#include "engine/layout.hpp"
#include "engine/runtime/context.hpp"
#include "engine/runtime/kernel.hpp"

namespace loft::engine::runtime {

// Names are cut to this.
inline std::uint32_t kept_length(std::uint64_t length) {
  return static_cast<std::uint32_t>(length < kMaxMarkName ? length : kMaxMarkName);
}

inline bool has_name(const Mark& mark, const char* name, std::uint64_t length) {
  const std::uint32_t kept = kept_length(length);
  return mark.length == kept && engine_same_bytes(mark.name, name, kept) != 0;
}

}  // namespace loft::engine::runtime
