#include "symbols/demangle.hpp"

// libiberty would declare a basename() of its own, unlike the C library's.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <memory>

namespace loft::symbols {
namespace {

constexpr std::size_t kLongestMangled = 8192;  // the demangler's stack grows with it
constexpr std::size_t kLongestDemangled = 65536;
constexpr int kMostBackReferencesOfD = 20;  // each can double the result

struct Output {
  std::string text;
  std::jmp_buf too_long;
};

// The engine has no way to be stopped but this. It keeps nothing that would have to be freed:
// everything it builds is on its stack.
void collect(const char* piece, std::size_t size, void* opaque) {
  auto& output = *static_cast<Output*>(opaque);
  if (output.text.size() + size > kLongestDemangled) std::longjmp(output.too_long, 1);
  output.text.append(piece, size);
}

using Engine = int (*)(const char*, int, demangle_callbackref, void*);

bool run(Engine engine, const char* mangled, int options, Output& output) {
  if (setjmp(output.too_long) != 0) return false;
  return engine(mangled, options, &collect, &output) != 0;
}

std::string with_engine(Engine engine, const std::string& mangled, int options) {
  // Without this flag the engine refuses names of more than 1024 bytes, which templates have.
  if (mangled.size() >= 1024) options |= DMGL_NO_RECURSE_LIMIT;
  const auto output = std::make_unique<Output>();
  if (!run(engine, mangled.c_str(), options, *output)) return {};
  return std::move(output->text);
}

std::string demangle_d(const std::string& mangled) {
  if (std::count(mangled.begin(), mangled.end(), 'Q') > kMostBackReferencesOfD) return {};
  const std::unique_ptr<char, void (*)(void*)> text(
      ::dlang_demangle(mangled.c_str(), DMGL_PARAMS | DMGL_ANSI), std::free);
  return text == nullptr ? std::string() : std::string(text.get());
}

// Rust's older scheme looks like C++ with a hash at the end.
bool may_be_legacy_rust(std::string_view name) {
  return name.starts_with("_ZN") && name.find("17h") != std::string_view::npos;
}

}  // namespace

std::string demangle(std::string_view name, NameStyle style) {
  const bool is_itanium = name.starts_with("_Z") || name.starts_with("__Z");
  const bool is_rust = name.starts_with("_R") || may_be_legacy_rust(name);
  const bool is_d = name.starts_with("_D");
  if (style == NameStyle::mangled || name.size() > kLongestMangled ||
      !(is_itanium || is_rust || is_d))
    return {};
  const int options = style == NameStyle::parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;

  // "@plt" and versions are ours and the linker's, not the mangler's.
  const std::size_t at = std::min(name.find('@'), name.size());
  const std::string mangled(name.substr(0, at).substr(name.starts_with("__Z") ? 1 : 0));
  std::string text;
  if (is_rust) text = with_engine(&::rust_demangle_callback, mangled, options);
  if (text.empty() && is_itanium)
    text = with_engine(&::cplus_demangle_v3_callback, mangled, options);
  if (text.empty() && is_d) text = demangle_d(mangled);
  if (!text.empty()) text += name.substr(at);
  return text;
}

}  // namespace loft::symbols
