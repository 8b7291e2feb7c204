// Names as they were written: C++, Rust (both schemes) and D.
#pragma once

#include <string>
#include <string_view>

namespace loft::symbols {

enum class NameStyle {
  mangled,     // "_ZN3foo3barEi"
  plain,       // "foo::bar": what tables and flame graphs show
  parameters,  // "foo::bar(int)": overloads told apart
};

// The readable name. Empty when the name is not mangled, and when it would not be worth it: a
// hostile name of a hundred bytes can stand for terabytes.
[[nodiscard]] std::string demangle(std::string_view name, NameStyle style = NameStyle::plain);

}  // namespace loft::symbols
