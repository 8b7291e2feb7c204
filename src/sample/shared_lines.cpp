#include "sample/shared_lines.hpp"

#include <array>

namespace loft::sample {

const char* to_string(SharingKind kind) {
  constexpr std::array kNames{"false", "true", "both", "unknown"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace loft::sample
