#include "format/perf/simpleperf.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace loft::format::perf {
namespace {

using perf_data::Metadata;
using perf_data::RecordedBinary;

RecordedBinary::Kind kind_of(std::uint64_t number) {
  constexpr auto kLast = static_cast<std::uint64_t>(RecordedBinary::Kind::unknown);
  return static_cast<RecordedBinary::Kind>(std::min(number, kLast));
}

RecordedBinary read_file(ByteReader& in) {
  RecordedBinary binary;
  binary.path = in.text();
  binary.kind = kind_of(in.u32());
  binary.code_address = in.u64();
  const auto count = in.count32(13);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    auto& symbol = binary.symbols.emplace_back();
    symbol.address = in.u64();
    symbol.size = in.u32();
    symbol.name = in.text();
  }
  if (binary.kind == RecordedBinary::Kind::dex) in.skip(8 * in.count32(8));
  if (in.ok() && in.remaining() >= 8) binary.code_offset = in.u64();  // older ones do not tell it
  return binary;
}

// The fields of a protobuf message.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : in_(bytes, ByteOrder::little) {}

  // The next field; false at the end, or when it is damaged.
  bool next() {
    if (in_.remaining() == 0) return false;
    const std::uint64_t key = varint();
    field_ = key >> 3;
    value_ = 0;
    content_ = {};
    switch (key & 7) {
      case 0:
        value_ = varint();
        break;
      case 1:
        value_ = in_.u64();
        break;
      case 2:
        content_ = in_.take(varint());
        break;
      case 5:
        value_ = in_.u32();
        break;
      default:
        in_.fail();
    }
    return in_.ok();
  }

  [[nodiscard]] std::uint64_t field() const { return field_; }
  [[nodiscard]] std::uint64_t value() const { return value_; }
  [[nodiscard]] std::span<const std::byte> content() const { return content_; }
  [[nodiscard]] std::string text() const {
    return {reinterpret_cast<const char*>(content_.data()), content_.size()};
  }
  [[nodiscard]] bool ok() const { return in_.ok(); }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = in_.u8();
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    in_.fail();
    return 0;
  }

  ByteReader in_;
  std::uint64_t field_ = 0;
  std::uint64_t value_ = 0;
  std::span<const std::byte> content_;
};

bool read_symbol2(std::span<const std::byte> bytes, RecordedBinary& binary) {
  RecordedBinary::Symbol symbol;
  MessageReader in(bytes);
  while (in.next()) {
    if (in.field() == 1) symbol.address = in.value();
    if (in.field() == 2) symbol.size = in.value();
    if (in.field() == 3) symbol.name = in.text();
  }
  if (!symbol.name.empty()) binary.symbols.push_back(std::move(symbol));
  return in.ok();
}

bool read_file2(std::span<const std::byte> bytes, RecordedBinary& binary) {
  constexpr std::uint64_t kElf = 6;
  constexpr std::uint64_t kKernelModule = 7;
  MessageReader in(bytes);
  bool all_good = true;
  while (in.next()) {
    if (in.field() == 1) binary.path = in.text();
    if (in.field() == 2) binary.kind = kind_of(in.value());
    if (in.field() == 3) binary.code_address = in.value();
    if (in.field() == 4) all_good &= read_symbol2(in.content(), binary);
    if (in.field() != kElf && in.field() != kKernelModule) continue;
    binary.code_offset = 0;  // what is 0 is left out of a message
    MessageReader inner(in.content());
    while (inner.next())
      if (inner.field() == 1) binary.code_offset = inner.value();
    all_good &= inner.ok();
  }
  return all_good && in.ok();
}

}  // namespace

void read_simpleperf_files(ByteReader& in, std::vector<RecordedBinary>& out) {
  while (in.ok() && in.remaining() > 0) {
    const auto size = in.u32();
    ByteReader file(in.take(size), in.order());
    if (!in.ok()) return;
    auto binary = read_file(file);
    if (!file.ok()) return in.fail();
    out.push_back(std::move(binary));
  }
}

void read_simpleperf_files2(ByteReader& in, std::vector<RecordedBinary>& out) {
  while (in.ok() && in.remaining() > 0) {
    const auto size = in.u32();
    const auto bytes = in.take(size);
    if (!in.ok()) return;
    RecordedBinary binary;
    if (!read_file2(bytes, binary)) return in.fail();
    if (!binary.path.empty()) out.push_back(std::move(binary));
  }
}

void read_simpleperf_facts(ByteReader& in, std::vector<std::pair<std::string, std::string>>& out) {
  while (in.ok() && in.remaining() > 0) {
    auto key = in.text();
    auto value = in.text();
    if (in.ok()) out.emplace_back(std::move(key), std::move(value));
  }
}

void name_simpleperf_events(Metadata& metadata) {
  for (const auto& [key, value] : metadata.simpleperf_facts) {
    if (key != "event_type_info") continue;
    for (const std::string_view line : split(value, '\n')) {
      const auto parts = split(line, ',');
      if (parts.size() != 3) continue;
      const auto type = parse_u64(parts[1]);
      const auto config = parse_u64(parts[2]);
      for (auto& event : metadata.events)
        if (event.name.empty() && type == event.attr.type && config == event.attr.config)
          event.name = parts[0];
    }
  }
}

std::optional<SimpleperfDso> read_simpleperf_dso(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  SimpleperfDso dso;
  dso.binary.kind = kind_of(in.u64());
  dso.id = in.u64();
  dso.binary.code_address = in.u64();
  dso.binary.path = in.text_field(in.remaining());
  if (!in.ok()) return std::nullopt;
  return dso;
}

std::optional<SimpleperfSymbol> read_simpleperf_symbol(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  SimpleperfSymbol found;
  found.symbol.address = in.u64();
  found.symbol.size = in.u64();
  found.dso = in.u64();
  found.symbol.name = in.text_field(in.remaining());
  if (!in.ok()) return std::nullopt;
  return found;
}

std::optional<RawRecord> joined_record(std::span<const std::byte> bytes, ByteOrder order) {
  ByteReader in(bytes, order);
  RawRecord record;
  record.order = order;
  record.type = static_cast<RecordType>(in.u32());
  const std::uint32_t high = in.u16();
  const std::uint32_t size = high << 16 | in.u16();
  if (!in.ok() || size != bytes.size()) return std::nullopt;
  record.body = bytes.subspan(kRecordHeader);
  return record;
}

std::span<const std::byte> sized_content(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  const auto size = in.u32();
  return in.take(size);
}

}  // namespace loft::format::perf
