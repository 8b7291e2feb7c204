// Recordings made byte by byte, in either byte order and with attributes of any size.
//
//   RecordingBuilder file(ByteOrder::big);
//   file.event({.sample_type = kIp | kTid, .ids = {7}});
//   file.record(RecordType::comm, 0, body);
//   const auto bytes = file.finish();
#pragma once

#include <array>
#include <vector>

#include "format/byte_builder.hpp"
#include "format/perf/attr.hpp"
#include "format/perf/writer.hpp"

namespace loft::format::perf {

using Bytes = std::vector<std::byte>;

struct BuiltEvent {
  std::uint32_t type = 1;
  std::uint64_t config = 0;
  std::uint64_t period = 1;
  std::uint64_t sample_type = kIp | kTid | kTime | kPeriod;
  std::uint64_t read_format = 0;
  std::uint64_t flags = std::uint64_t{1} << 18;  // sample_id_all, as bit numbers of little endian
  std::uint64_t branch_sample_type = 0;
  std::uint64_t regs_user = 0;
  std::uint32_t stack_user = 0;
  std::uint64_t regs_intr = 0;
  std::vector<std::uint64_t> ids = {};
  std::size_t attr_size = 128;
};

// Bit fields start at the other end of the word on big-endian machines.
inline std::uint64_t flag_word(std::uint64_t flags, ByteOrder order) {
  if (order == ByteOrder::little) return flags;
  std::uint64_t mirrored = 0;
  for (unsigned bit = 0; bit < 64; ++bit)
    if ((flags >> bit & 1) != 0) mirrored |= std::uint64_t{1} << (63 - bit);
  return mirrored;
}

inline Bytes attr_bytes(const BuiltEvent& event, ByteOrder order) {
  ByteBuilder out(order);
  out.u32(event.type).u32(static_cast<std::uint32_t>(event.attr_size)).u64(event.config);
  out.u64(event.period).u64(event.sample_type).u64(event.read_format);
  out.u64(flag_word(event.flags, order)).u32(0).u32(0).u64(0).u64(0);
  out.u64(event.branch_sample_type).u64(event.regs_user).u32(event.stack_user).u32(0);
  out.u64(event.regs_intr);
  Bytes bytes(out.view().begin(), out.view().end());
  bytes.resize(event.attr_size);  // a shorter one loses its tail, a longer one is zero there
  return bytes;
}

inline Bytes record_bytes(RecordType type, std::uint16_t misc, const ByteBuilder& body) {
  return make_record(type, misc, body.view(), body.order()).value();
}

class RecordingBuilder {
 public:
  explicit RecordingBuilder(ByteOrder order = ByteOrder::little) : order_(order) {}

  RecordingBuilder& event(const BuiltEvent& event) {
    events_.push_back(event);
    return *this;
  }
  RecordingBuilder& record(RecordType type, std::uint16_t misc, const ByteBuilder& body) {
    const auto bytes = record_bytes(type, misc, body);
    data_.bytes(bytes);
    return *this;
  }
  RecordingBuilder& raw(std::span<const std::byte> bytes) {
    data_.bytes(bytes);
    return *this;
  }
  // A header feature; those with lower bits come first.
  RecordingBuilder& feature(std::uint32_t bit, const ByteBuilder& content) {
    features_.emplace_back(bit, Bytes(content.view().begin(), content.view().end()));
    return *this;
  }
  RecordingBuilder& claimed_data_size(std::uint64_t size) {
    claimed_ = size;
    return *this;
  }
  [[nodiscard]] ByteBuilder body() const { return ByteBuilder(order_); }

  [[nodiscard]] Bytes finish() const {
    constexpr std::uint64_t kHeader = 104;
    ByteBuilder ids(order_);
    ByteBuilder attrs(order_);
    std::uint64_t id_bytes = 0;
    for (const auto& event : events_) id_bytes += event.ids.size() * 8;
    for (const auto& event : events_) {
      attrs.bytes(attr_bytes(event, order_)).u64(kHeader + ids.size()).u64(event.ids.size() * 8);
      for (const auto id : event.ids) ids.u64(id);
    }
    const std::uint64_t entry = events_.empty() ? 144 : events_.front().attr_size + 16;
    ByteBuilder out(order_);
    out.text(order_ == ByteOrder::little ? "PERFILE2" : "2ELIFREP").u64(kHeader).u64(entry);
    out.u64(kHeader + id_bytes).u64(attrs.size());
    out.u64(kHeader + id_bytes + attrs.size()).u64(claimed_.value_or(data_.size()));
    std::array<std::uint64_t, 4> bits{};
    for (const auto& [bit, content] : features_) bits[bit / 64] |= std::uint64_t{1} << bit % 64;
    out.u64(0).u64(0);
    for (const auto word : bits) out.u64(word);
    out.bytes(ids.view()).bytes(attrs.view()).bytes(data_.view());
    std::uint64_t place = out.size() + 16 * features_.size();
    for (const auto& [bit, content] : features_) {
      out.u64(place).u64(content.size());
      place += content.size();
    }
    for (const auto& [bit, content] : features_) out.bytes(content);
    return {out.view().begin(), out.view().end()};
  }

 private:
  ByteOrder order_;
  std::vector<BuiltEvent> events_;
  ByteBuilder data_;
  std::vector<std::pair<std::uint32_t, Bytes>> features_;
  std::optional<std::uint64_t> claimed_;
};

inline Bytes pipe_start(ByteOrder order = ByteOrder::little) {
  ByteBuilder out(order);
  out.text(order == ByteOrder::little ? "PERFILE2" : "2ELIFREP").u64(16);
  return {out.view().begin(), out.view().end()};
}

}  // namespace loft::format::perf
