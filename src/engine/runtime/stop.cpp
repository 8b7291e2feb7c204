#include "engine/runtime/stop.hpp"

#include <cstring>

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/regions.hpp"

namespace loft::engine::runtime {

Message& Message::add(const char* text) {
  while (*text != '\0' && size_ + 1 < sizeof text_) text_[size_++] = *text++;
  text_[size_] = '\0';
  return *this;
}

Message& Message::add_hex(std::uint64_t value) {
  char digits[19] = "0x";
  int at = 2;
  int shift = 60;
  while (shift > 0 && (value >> shift & 15) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) digits[at++] = "0123456789abcdef"[value >> shift & 15];
  digits[at] = '\0';
  return add(digits);
}

Message& Message::add_number(std::uint64_t value) {
  char digits[21];
  int at = 20;
  digits[at] = '\0';
  do digits[--at] = static_cast<char>('0' + value % 10);
  while ((value /= 10) != 0);
  return add(digits + at);
}

Message& Message::add_place(std::uint64_t pc) {
  add_hex(pc);
  const Region* region = known_region(pc);
  if (region != nullptr && region->path[0] != '\0') add(" in ").add(region->path);
  return *this;
}

void note(const Message& message) {
  SharedHeader* header = shared_header();
  if (header == nullptr) {  // too early for loft to hear of it otherwise
    kernel(SYS_write, 2, word(message.text()), message.size());
    kernel(SYS_write, 2, word("\n"), 1);
    return;
  }
  const std::uint32_t length = message.size() + 1;
  const std::uint32_t at = header->message_bytes.fetch_add(length);
  if (at + length > kMessageBytes) return;
  std::memcpy(header->message + at, message.text(), message.size());
  header->message[at + message.size()] = '\n';
}

void stop(const Message& message) {
  note(message);
  if (shared_header() != nullptr) shared_header()->refused.fetch_add(1);
  kernel(SYS_exit_group, 125);
  __builtin_unreachable();
}

}  // namespace loft::engine::runtime
