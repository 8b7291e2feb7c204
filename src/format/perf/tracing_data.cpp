#include "format/perf/tracing_data.hpp"

#include <event-parse.h>

#include <algorithm>
#include <memory>

namespace loft::format::perf {
namespace {

using Tep = std::unique_ptr<tep_handle, void (*)(tep_handle*)>;

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> block64(ByteReader& in) { return in.take(in.u64()); }

// Takes the fields over into our own shape; libtraceevent keeps its own to itself.
void take_format(const tep_event* event, TracingData& out) {
  TracepointFormat& format = out.formats[static_cast<std::uint64_t>(event->id)];
  format = {};
  format.system = event->system != nullptr ? event->system : "";
  format.name = event->name != nullptr ? event->name : "";
  for (const tep_format_field* field = event->format.fields; field != nullptr;
       field = field->next) {
    if (field->offset < 0 || field->size < 0) continue;
    auto& own = format.fields.emplace_back();
    own.name = field->name;
    own.offset = static_cast<std::uint32_t>(field->offset);
    own.size = static_cast<std::uint32_t>(field->size);
    own.element_size = field->elementsize;
    own.is_signed = (field->flags & TEP_FIELD_IS_SIGNED) != 0;
    own.is_text = (field->flags & TEP_FIELD_IS_STRING) != 0;
    own.is_pointer = (field->flags & TEP_FIELD_IS_POINTER) != 0;
    own.is_array = (field->flags & TEP_FIELD_IS_ARRAY) != 0;
    own.is_dynamic = (field->flags & TEP_FIELD_IS_DYNAMIC) != 0;
    own.is_relative = (field->flags & TEP_FIELD_IS_RELATIVE) != 0;
  }
}

bool take(std::string_view& text, std::string_view wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(wanted.size());
  return true;
}

bool take_number(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0 && digits <= 9;
}

// "char comm[16]", "__data_loc char[] name": words, and brackets that are closed.
bool is_declaration(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ *[](),+-/<>";
  bool is_open = false;
  for (const char c : text) {
    if (kAllowed.find(c) == std::string_view::npos) return false;
    if (c == (is_open ? '[' : ']')) return false;
    if (c == '[' || c == ']') is_open = !is_open;
  }
  return !is_open && !text.empty();
}

// field:DECLARATION; offset:N; size:N; signed:N; of which the last is not always there.
bool is_field(std::string_view line) {
  if (!take(line, "\tfield:")) return false;
  const std::size_t end = line.find(';');
  if (end == std::string_view::npos || !is_declaration(line.substr(0, end))) return false;
  line.remove_prefix(end);
  if (!take(line, ";\toffset:") || !take_number(line)) return false;
  if (!take(line, ";\tsize:") || !take_number(line) || !take(line, ";")) return false;
  if (take(line, "\tsigned:") && !(take_number(line) && take(line, ";"))) return false;
  return line.empty();
}

bool is_name(std::string_view line) {
  return take(line, "name: ") && line.find_first_of(" ;[]():\"\\") == std::string_view::npos &&
         is_declaration(line);
}

bool is_id(std::string_view line) {
  return take(line, "ID: ") && take_number(line) && line.empty();
}

// What names an event and its fields, without how to print it; empty where a line is not as the
// kernel writes it. libtraceevent reads through null pointers when it meets such a one.
std::string sound_part_of(std::string_view text) {
  std::string sound;
  while (!text.empty() && !text.starts_with("print fmt:")) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line != "format:" && !is_name(line) && !is_id(line) && !is_field(line))
      return {};
    sound.append(line).append(1, '\n');
  }
  return sound + "print fmt: \"\"\n";
}

// A format that cannot be parsed is left out; samples of it are shown as raw bytes.
void read_formats(ByteReader& in, tep_handle* tep, const std::string& system) {
  const auto count = in.count32(8);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::string text = sound_part_of(view_of(block64(in)));
    if (!in.ok()) return;
    if (!text.empty()) (void)tep_parse_event(tep, text.c_str(), text.size(), system.c_str());
  }
}

bool read_blocks(ByteReader& in, TracingData& out) {
  const auto magic = in.take(10);
  if (view_of(magic) != std::string_view("\x17\x08\x44tracing", 10)) return false;
  (void)in.text();  // version
  const bool is_big = in.u8() != 0;
  in = ByteReader({in.here(), in.remaining()}, is_big ? ByteOrder::big : ByteOrder::little);
  const int long_size = in.u8();
  in.skip(4);  // page size
  if (in.text() != "header_page") return false;
  (void)block64(in);
  if (in.text() != "header_event") return false;
  (void)block64(in);
  if (!in.ok()) return false;

  const Tep tep(tep_alloc(), tep_free);
  if (tep == nullptr) return false;
  tep_set_loglevel(TEP_LOG_NONE);
  tep_set_long_size(tep.get(), long_size == 4 ? 4 : 8);
  tep_set_file_bigendian(tep.get(), is_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
  tep_set_local_bigendian(tep.get(), TEP_LITTLE_ENDIAN);
  read_formats(in, tep.get(), "ftrace");
  const auto systems = in.count32(5);
  for (std::uint64_t i = 0; i < systems && in.ok(); ++i) {
    const std::string system(in.text());
    read_formats(in, tep.get(), system);
  }
  for (int i = 0; i < tep_get_events_count(tep.get()); ++i)
    take_format(tep_get_event(tep.get(), i), out);
  out.kallsyms = view_of(in.take(in.u32()));
  return in.ok();
}

}  // namespace

TracingData read_tracing_data(std::span<const std::byte> bytes) {
  TracingData out;
  ByteReader in(bytes, ByteOrder::little);
  if (!read_blocks(in, out)) out.note = "the tracing data is damaged";
  return out;
}

FieldValue value_of(const TracepointField& field, std::span<const std::byte> raw, ByteOrder order) {
  std::uint64_t offset = field.offset;
  std::uint64_t size = field.size;
  if (field.is_dynamic) {
    if (offset + 4 > raw.size()) return {};
    const auto place = load<std::uint32_t>(raw.data() + offset, order);
    const std::uint64_t base = field.is_relative ? offset + field.size : 0;
    offset = base + (place & 0xFFFF);
    size = place >> 16;
  }
  if (offset > raw.size() || size > raw.size() - offset) return {};
  const auto bytes = raw.subspan(offset, size);
  if (field.is_text) {
    const auto text = view_of(bytes);
    return text.substr(0, text.find('\0'));
  }
  if (field.is_array) return bytes;
  const auto as = [&](auto value) -> FieldValue {
    using Signed = std::make_signed_t<decltype(value)>;
    if (field.is_signed) return std::int64_t{static_cast<Signed>(value)};
    return std::uint64_t{value};
  };
  switch (size) {
    case 1:
      return as(std::to_integer<std::uint8_t>(bytes[0]));
    case 2:
      return as(load<std::uint16_t>(bytes.data(), order));
    case 4:
      return as(load<std::uint32_t>(bytes.data(), order));
    case 8:
      return as(load<std::uint64_t>(bytes.data(), order));
    default:
      return bytes;
  }
}

}  // namespace loft::format::perf
