// Inside compile(): which definition each name stands for, and in what order they are computed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "metric/program.hpp"

namespace loft::metric {

// What a name in a formula stands for. Neither definition nor constant: an event.
struct Choice {
  const Definition* definition = nullptr;
  const Constant* constant = nullptr;
  bool available = false;
};

using Choices = std::map<std::string, Choice, std::less<>>;

// Looks up all that `roots` (the variants of one name) need, directly or through other definitions.
[[nodiscard]] Result<Choices> choose(const Library& library, const std::string& name,
                                     const std::vector<const Definition*>& roots,
                                     const Available& available);

}  // namespace loft::metric
