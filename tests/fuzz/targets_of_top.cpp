// What others send to a running monitor.
#include "fuzz/targets.hpp"
#include "top/control_files.hpp"
#include "top/http_request.hpp"

namespace loft::fuzz {
namespace {

std::string_view view_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// A request comes in pieces: once it is whole, or refused, what follows must not change that.
void fuzz_http(Bytes bytes) {
  const std::string_view text = view_of(bytes);
  for (const bool loopback_alone : {true, false}) {
    const top::ParsedRequest whole = top::parse_request(text, loopback_alone);
    if (whole.is_whole && top::status_text(whole.status).empty()) __builtin_trap();
    for (std::size_t size = 1; size < text.size(); size = size * 3 / 2 + 1) {
      const top::ParsedRequest part = top::parse_request(text.substr(0, size), loopback_alone);
      if (!part.is_whole) continue;
      if (!whole.is_whole || part.status != whole.status) __builtin_trap();
      if (part.request.path != whole.request.path) __builtin_trap();
      break;
    }
  }
}

// What is read is written on one line, and read again as the same.
void fuzz_control(Bytes bytes) {
  const auto events = top::parse_control_file(view_of(bytes));
  if (!events) return;
  const auto again = top::parse_control_file(*events);
  if (!again || *again != *events) __builtin_trap();
}

}  // namespace loft::fuzz
