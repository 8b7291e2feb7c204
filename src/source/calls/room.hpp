// Where code can be put near other code.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "source/memory_ranges.hpp"

namespace loft::source::calls {

// Where `size` bytes can be mapped so that a jump of 32 bits leads from them to all of
// [first, last), and back. Below it where possible: above a program its heap grows.
[[nodiscard]] std::optional<std::uint64_t> find_room(const std::vector<MemoryRange>& mappings,
                                                     std::uint64_t first, std::uint64_t last,
                                                     std::uint64_t size);

}  // namespace loft::source::calls
