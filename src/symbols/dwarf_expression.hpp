// The small stack machine that call frame information uses where a sum is not enough.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/bytes.hpp"

namespace loft::symbols {

struct ExpressionContext {
  std::function<std::optional<std::uint64_t>(std::uint64_t number)> register_value;
  std::function<std::optional<std::uint64_t>(std::uint64_t address, std::size_t size)> memory;
};

// The value, or nothing when it needs what is not known, or is no expression. `initial` is what the
// stack starts with: the CFA, for the rules of registers.
std::optional<std::uint64_t> evaluate(Bytes expression, ByteOrder order,
                                      std::optional<std::uint64_t> initial,
                                      const ExpressionContext& context);

}  // namespace loft::symbols
