// A text that grows by many small pieces, as a dump of records does: a piece costs little more than
// its bytes. For other texts std::string is good enough.
//
//   TextBuffer out;
//   out += "ip=0x";
//   out += name;
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace loft {

class TextBuffer {
 public:
  void operator+=(char c) {
    make_room(1);
    text_[size_++] = c;
  }
  void operator+=(std::string_view text) {
    make_room(text.size());
    copy(text_.get() + size_, text.data(), text.size());
    size_ += text.size();
  }

  [[nodiscard]] std::string_view view() const { return {text_.get(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void clear() { size_ = 0; }  // keeps its memory

 private:
  void make_room(std::size_t more) {
    if (room_ - size_ < more) [[unlikely]]
      grow(more);
  }
  void grow(std::size_t more) {
    room_ = 2 * (size_ + more) + 4096;
    std::unique_ptr<char[]> larger(new char[room_]);
    if (size_ != 0) std::memcpy(larger.get(), text_.get(), size_);
    text_ = std::move(larger);
  }

  // The first and the last bytes of a short text, which may overlap, in place of a loop.
  template <std::size_t kBytes>
  static void copy_ends(char* to, const char* from, std::size_t size) {
    std::memcpy(to, from, kBytes);
    std::memcpy(to + size - kBytes, from + size - kBytes, kBytes);
  }
  static void copy(char* to, const char* from, std::size_t size) {
    if (size > 32) {
      std::memcpy(to, from, size);
    } else if (size >= 16) {
      copy_ends<16>(to, from, size);
    } else if (size >= 8) {
      copy_ends<8>(to, from, size);
    } else if (size >= 4) {
      copy_ends<4>(to, from, size);
    } else {
      for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
    }
  }

  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace loft
