// The example at the top of a header, as a function that a compiler can check.
//
//   if (const auto example = example_of(text)) out << as_source(*example, "base/fd.hpp", context);
//
// An example is the lines of the opening comment that are indented by three spaces, where one of
// them ends a statement or opens a block; tables and formats of files have neither. "..." stands
// for what the reader fills in: a body, or a statement.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loft::examples {

struct Line {
  std::size_t number = 0;  // in the header, from 1
  std::string code;
};

struct HeaderExample {
  std::string scope;  // "loft::event": the namespace of the header, or empty
  std::vector<Line> lines;
};

[[nodiscard]] std::optional<HeaderExample> example_of(std::string_view header);

// What the example takes for granted: declarations, and includes that must stand outside of
// everything.
struct Context {
  std::vector<std::string> includes;
  std::string declarations;
};

// "[event/plan.hpp]" starts the context of that header, "[*]" the one of all; what follows is C++.
[[nodiscard]] Context context_of(std::string_view contexts, std::string_view header);

// Without includes. `number` keeps the names of several examples apart.
[[nodiscard]] std::string as_source(const HeaderExample& example, std::string_view path,
                                    const Context& context, std::size_t number);

}  // namespace loft::examples
