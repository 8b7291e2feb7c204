#include "format/perf/writer.hpp"

#include "format/perf/record.hpp"

namespace loft::format::perf {
namespace {

constexpr std::uint64_t kHeaderSize = 104;
constexpr std::uint64_t kStreamHeaderSize = 16;
constexpr std::uint64_t kSectionSize = 16;
constexpr std::size_t kTextUnit = 64;  // perf pads names in features to this
constexpr std::size_t kFeatureBits = 256;

void put_text(ByteBuilder& out, const std::string& text) {
  ByteBuilder padded;
  padded.text_padded(text, kTextUnit);
  out.u32(static_cast<std::uint32_t>(padded.size())).bytes(padded.view());
}

std::vector<std::byte> to_vector(const ByteBuilder& builder) {
  return {builder.view().begin(), builder.view().end()};
}

}  // namespace

Result<std::vector<std::byte>> make_record(RecordType type, std::uint16_t misc,
                                           std::span<const std::byte> body, ByteOrder order) {
  const std::size_t size = (kRecordHeader + body.size() + 7) & ~std::size_t{7};
  if (size > 0xFFFF)
    return failure(ErrorKind::limit, "write a record",
                   std::to_string(size) + " bytes are more than a record can have");
  ByteBuilder out(order);
  out.u32(static_cast<std::uint32_t>(type)).u16(misc).u16(static_cast<std::uint16_t>(size));
  out.bytes(body).pad_to(8);
  return to_vector(out);
}

RecordingWriter::RecordingWriter(WriteAt write, std::vector<WrittenEvent> events, Medium medium)
    : write_(std::move(write)), events_(std::move(events)), medium_(medium) {}

// A short header, then a record for each event with its ids.
Result<void> RecordingWriter::start_stream() {
  ByteBuilder out;
  out.text("PERFILE2").u64(kStreamHeaderSize);
  for (const auto& event : events_) {
    ByteBuilder body;
    body.bytes(event.attr);
    for (const auto id : event.ids) body.u64(id);
    LOFT_TRY(const auto record, make_record(RecordType::header_attr, 0, body.view()));
    out.bytes(record);
  }
  data_offset_ = out.size();
  return write_(0, out.view());
}

// Header, ids, attributes, data: perf's own order.
Result<void> RecordingWriter::start() {
  if (medium_ == Medium::stream) return start_stream();
  ByteBuilder out;
  std::vector<std::uint64_t> id_offsets;
  for (const auto& event : events_) {
    if (event.attr.size() != events_.front().attr.size())
      return failure(ErrorKind::internal, "start a recording", "event attributes differ in size");
    id_offsets.push_back(kHeaderSize + out.size());
    for (const auto id : event.ids) out.u64(id);
  }
  attrs_offset_ = kHeaderSize + out.size();
  for (std::size_t i = 0; i < events_.size(); ++i)
    out.bytes(events_[i].attr).u64(id_offsets[i]).u64(events_[i].ids.size() * 8);
  data_offset_ = kHeaderSize + out.size();
  LOFT_CHECK(write_(kHeaderSize, out.view()));
  return write_header(false);
}

Result<void> RecordingWriter::append(std::span<const std::byte> records) {
  LOFT_CHECK(write_(data_offset_ + data_size_, records));
  data_size_ += records.size();
  return {};
}

Result<void> RecordingWriter::finish_round() {
  LOFT_TRY(const auto mark, make_record(RecordType::finished_round, 0, {}));
  LOFT_CHECK(append(mark));
  return write_header(false);
}

void RecordingWriter::add_feature(std::uint32_t bit, std::vector<std::byte> bytes) {
  features_[bit] = std::move(bytes);
}

void RecordingWriter::add_text(Feature feature, const std::string& text) {
  ByteBuilder out;
  put_text(out, text);
  add_feature(static_cast<std::uint32_t>(feature), to_vector(out));
}

void RecordingWriter::add_texts(Feature feature, const std::vector<std::string>& texts) {
  ByteBuilder out;
  out.u32(static_cast<std::uint32_t>(texts.size()));
  for (const auto& text : texts) put_text(out, text);
  add_feature(static_cast<std::uint32_t>(feature), to_vector(out));
}

void RecordingWriter::add_event_descriptions() {
  ByteBuilder out;
  const std::size_t attr_size = events_.empty() ? 0 : events_.front().attr.size();
  out.u32(static_cast<std::uint32_t>(events_.size())).u32(static_cast<std::uint32_t>(attr_size));
  for (const auto& event : events_) {
    out.bytes(event.attr).u32(static_cast<std::uint32_t>(event.ids.size()));
    put_text(out, event.name);
    for (const auto id : event.ids) out.u64(id);
  }
  add_feature(static_cast<std::uint32_t>(Feature::event_description), to_vector(out));
}

Result<void> RecordingWriter::write_header(bool with_features) {
  if (medium_ == Medium::stream) return {};
  const std::uint64_t attr_size = events_.empty() ? 0 : events_.front().attr.size();
  ByteBuilder out;
  out.text("PERFILE2").u64(kHeaderSize).u64(attr_size + kSectionSize);
  out.u64(attrs_offset_).u64(data_offset_ - attrs_offset_);
  out.u64(data_offset_).u64(data_size_).u64(0).u64(0);
  for (std::uint32_t word = 0; word < kFeatureBits / 64; ++word) {
    std::uint64_t bits = 0;
    for (const auto& [bit, bytes] : features_)
      if (with_features && bit / 64 == word) bits |= std::uint64_t{1} << (bit % 64);
    out.u64(bits);
  }
  return write_(0, out.view());
}

Result<void> RecordingWriter::finish() {
  if (medium_ == Medium::stream) {
    for (const auto& [bit, bytes] : features_) {
      ByteBuilder body;
      body.u64(bit).bytes(bytes);
      // One that no record can hold is left out: none that readers depend on is so long.
      if (const auto record = make_record(RecordType::header_feature, 0, body.view()))
        LOFT_CHECK(append(*record));
    }
    return {};
  }
  add_event_descriptions();
  const std::uint64_t table = data_offset_ + data_size_;
  std::uint64_t place = table + features_.size() * kSectionSize;
  ByteBuilder sections;
  ByteBuilder contents;
  for (const auto& [bit, bytes] : features_) {
    sections.u64(place).u64(bytes.size());
    contents.bytes(bytes);
    place += bytes.size();
  }
  sections.bytes(contents.view());
  LOFT_CHECK(write_(table, sections.view()));
  return write_header(true);
}

}  // namespace loft::format::perf
