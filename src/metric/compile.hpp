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
  // Of a definition that was compiled by itself, what it gives: it is then an input like an event.
  const std::optional<Dimension>* gives = nullptr;
};

using Choices = std::map<std::string, Choice, std::less<>>;

// How many definitions may nest in each other.
inline constexpr std::size_t kDeepestNesting = 50'000;

// One definition with what it names taken as `choices` say.
[[nodiscard]] Result<Program> compile_one(const Library& library, const Definition& definition,
                                          const Choices& choices);

// Looks up all that `roots` (the variants of one name) need, directly or through other definitions.
[[nodiscard]] Result<Choices> choose(const Library& library, const std::string& name,
                                     const std::vector<const Definition*>& roots,
                                     const Available& available);

}  // namespace loft::metric
