// When the engine cannot go on it says what and where, and ends the program: never a wrong number.
// The line goes to the shared memory, where loft finds it after the program's end.
#pragma once

#include <cstdint>

namespace loft::engine::runtime {

// A line of text put together without a heap.
class Message {
 public:
  explicit Message(const char* text) { add(text); }
  Message& add(const char* text);
  Message& add_hex(std::uint64_t value);
  Message& add_number(std::uint64_t value);
  Message& add_place(std::uint64_t pc);  // "0x401234 in /bin/app"
  [[nodiscard]] const char* text() const { return text_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  char text_[1024];
  std::uint32_t size_ = 0;
};

// Notes the line and goes on.
void note(const Message& message);

// Notes the line and ends the process with status 125.
[[noreturn]] void stop(const Message& message);

}  // namespace loft::engine::runtime
