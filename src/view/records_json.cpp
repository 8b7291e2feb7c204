#include <cmath>

#include "view/json_text.hpp"
#include "view/records.hpp"

namespace loft::view {
namespace {

void append_text(std::string_view text, TextBuffer& out) {
  if (!is_plain_json(text)) {
    out += json_text(text);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

}  // namespace

void RecordJson::key(std::string_view name) {
  if (needs_comma_) out_ += ',';
  needs_comma_ = true;
  if (name.empty()) return;
  append_text(name, out_);
  out_ += ':';
}

void RecordJson::begin(const sample::RecordHead& head) {
  out_ += '{';
  needs_comma_ = false;
  number("nr", head.number);
  number("offset", head.offset);
  if (head.type.empty()) {
    text("type", fmt::format("type {}", head.type_number));
  } else {
    text("type", head.type);
  }
  if (head.time) number("time", *head.time);
  if (head.pid) signed_number("pid", static_cast<std::int32_t>(*head.pid));
  if (head.tid) signed_number("tid", static_cast<std::int32_t>(*head.tid));
  if (head.cpu) number("cpu", *head.cpu);
  if (!head.comm.empty()) text("comm", head.comm);
  if (!head.event.empty()) text("event", head.event);
}

void RecordJson::number(std::string_view name, std::uint64_t value) {
  key(name);
  append_number(out_, value);
}

void RecordJson::signed_number(std::string_view name, std::int64_t value) {
  key(name);
  append_signed(out_, value);
}

void RecordJson::real(std::string_view name, double value) {
  key(name);
  if (std::isfinite(value)) {
    out_ += fmt::format("{}", value);
  } else {
    out_ += "null";
  }
}

// Addresses are texts: a JSON number keeps only 53 bits in many readers.
void RecordJson::address(std::string_view name, std::uint64_t value) {
  key(name);
  out_ += "\"0x";
  append_hex(out_, value);
  out_ += '"';
}

void RecordJson::text(std::string_view name, std::string_view value) {
  key(name);
  append_text(value, out_);
}

void RecordJson::flag(std::string_view name) {
  key(name);
  out_ += "true";
}

void RecordJson::bytes(std::string_view name, std::span<const std::byte> value) {
  key(name);
  out_ += '"';
  for (const std::byte byte : value) out_ += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  out_ += '"';
}

void RecordJson::begin_group(std::string_view name) {
  key(name);
  out_ += '{';
  needs_comma_ = false;
}

void RecordJson::end_group() {
  out_ += '}';
  needs_comma_ = true;
}

void RecordJson::begin_list(std::string_view name) {
  key(name);
  out_ += '[';
  needs_comma_ = false;
}

void RecordJson::end_list() {
  keep_frames();
  out_ += ']';
  needs_comma_ = true;
}

namespace {

void append_names(const sample::FrameText& frame, std::string& out) {
  out += ",\"function\":";
  append_json_text(out, frame.function);
  out += ",\"binary\":";
  append_json_text(out, frame.binary);
}

}  // namespace

void RecordJson::frame(const sample::FrameText& frame) {
  key("");
  out_ += "{\"address\":\"0x";
  append_hex(out_, frame.address);
  out_ += '"';
  names_.append(frame, out_, [&](std::string& out) { append_names(frame, out); });
  out_ += '}';
}

void RecordJson::instruction(const sample::FrameText& frame) {
  address("ip", frame.address);
  names_.append(frame, out_, [&](std::string& out) { append_names(frame, out); });
}

void RecordJson::end() { out_ += "}\n"; }

}  // namespace loft::view
