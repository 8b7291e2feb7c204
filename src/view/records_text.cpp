#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "view/json_text.hpp"
#include "view/records.hpp"

namespace loft::view {
namespace {

constexpr std::size_t kMostBytes = 64;  // of a blob; its size is always told

void append_time(TextBuffer& out, std::uint64_t ns) {
  append_number(out, ns / 1'000'000'000);
  const fmt::format_int rest(1'000'000'000 + ns % 1'000'000'000);
  out += '.';
  out += std::string_view(rest.data() + 1, 9);
}

// Whether all is printable ASCII, eight bytes at a time: it is asked for every name of every frame.
bool is_plain(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t bad = 0;
  std::size_t at = 0;
  for (; text.size() - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    // The top bit of a byte tells: it is set above 0x7F, appears when 1 is added to 0x7F, and is
    // lost when 0x20 is taken from less.
    const std::uint64_t too_low = ((word | kOnes * 0x80) - kOnes * 0x20) ^ (kOnes * 0x80);
    bad |= word | (word + kOnes) | too_low;
    if ((bad & kOnes * 0x80) != 0) return false;
  }
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7F; });
}

template <class Text>
void append_printable(Text& out, std::string_view text) {
  if (is_plain(text)) {
    out += text;
  } else {
    out += printable(text);
  }
}

}  // namespace

void RecordLines::begin(const sample::RecordHead& head) {
  out_ += '#';
  append_number(out_, head.number);
  out_ += ' ';
  if (head.time) {
    append_time(out_, *head.time);
    out_ += ' ';
  }
  if (head.type.empty()) {
    out_ += "type ";
    append_number(out_, head.type_number);
  } else {
    out_ += head.type;
  }
  if (!head.event.empty()) {
    out_ += ' ';
    append_printable(out_, head.event);
  }
  if (!head.comm.empty()) {
    out_ += ' ';
    append_printable(out_, head.comm);
  }
  if (head.pid && head.tid) {
    out_ += ' ';
    append_signed(out_, static_cast<std::int32_t>(*head.pid));
    out_ += '/';
    append_signed(out_, static_cast<std::int32_t>(*head.tid));
  }
  if (head.cpu) {
    out_ += " cpu ";
    append_number(out_, *head.cpu);
  }
  lists_ = 0;
}

void RecordLines::key(std::string_view name) {
  if (!after_open_) out_ += ' ';
  after_open_ = false;
  if (name.empty()) return;
  out_ += name;
  out_ += '=';
}

void RecordLines::number(std::string_view name, std::uint64_t value) {
  key(name);
  append_number(out_, value);
}

void RecordLines::signed_number(std::string_view name, std::int64_t value) {
  key(name);
  append_signed(out_, value);
}

void RecordLines::real(std::string_view name, double value) {
  key(name);
  out_ += fmt::format("{}", value);
}

void RecordLines::address(std::string_view name, std::uint64_t value) {
  key(name);
  out_ += "0x";
  append_hex(out_, value);
}

void RecordLines::text(std::string_view name, std::string_view value) {
  key(name);
  append_printable(out_, value);
}

void RecordLines::flag(std::string_view name) {
  key("");
  out_ += name;
}

void RecordLines::bytes(std::string_view name, std::span<const std::byte> value) {
  key(name);
  out_ += '<';
  append_number(out_, value.size());
  out_ += " bytes";
  if (!value.empty()) out_ += ':';
  for (std::size_t i = 0; i < value.size() && i < kMostBytes; ++i)
    out_ += fmt::format(" {:02x}", std::to_integer<unsigned>(value[i]));
  if (value.size() > kMostBytes) out_ += " ...";
  out_ += '>';
}

void RecordLines::begin_group(std::string_view name) {
  key(name);
  out_ += '{';
  after_open_ = true;
}

void RecordLines::end_group() {
  out_ += '}';
  after_open_ = false;
}

void RecordLines::begin_list(std::string_view name) {
  if (name == "call_chain") {
    ++lists_;  // frames get lines of their own
    return;
  }
  key(name);
  out_ += '[';
  after_open_ = true;
}

void RecordLines::end_list() {
  keep_frames();
  if (lists_ > 0) {
    --lists_;
  } else {
    out_ += ']';
  }
  after_open_ = false;
}

void RecordLines::frame(const sample::FrameText& frame) {
  out_ += lists_ > 0 ? std::string_view("\n    0x") : std::string_view("0x");
  append_hex(out_, frame.address);
  frame_texts_.append(frame, out_, [&](std::string& out) {
    out += ' ';
    append_printable(out, frame.function);
    out += " (";
    append_printable(out, frame.binary);
    out += ')';
  });
}

void RecordLines::instruction(const sample::FrameText& frame) {
  address("ip", frame.address);
  instruction_texts_.append(frame, out_, [&](std::string& out) {
    out += " function=";
    append_printable(out, frame.function);
    out += " binary=";
    append_printable(out, frame.binary);
  });
}

void RecordLines::end() { out_ += '\n'; }

}  // namespace loft::view
