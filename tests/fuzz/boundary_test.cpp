// Recordings that are damaged where a reader does not expect it: whole records are cut off, left
// out, doubled and exchanged, at every place, and every view is made of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/file.hpp"
#include "format/builders.hpp"
#include "fuzz/every_view.hpp"

namespace loft::fuzz {
namespace {

namespace perf = format::perf;
using perf::RecordType;

// Two threads that fork, run in turn on two CPUs, are sampled and end.
std::string switched_recording() {
  perf::RecordingBuilder file;
  file.event({.sample_type = perf::kIp | perf::kTid | perf::kTime | perf::kCpu | perf::kPeriod});
  const auto add = [&](RecordType type, std::uint16_t misc, format::ByteBuilder body,
                       std::uint32_t tid, std::uint64_t time) {
    body.u32(1).u32(tid).u64(time).u32(tid % 2).u32(0);
    file.record(type, misc, body);
  };
  for (const std::uint32_t tid : {1u, 2u}) {
    auto fork = file.body();
    fork.u32(1).u32(1).u32(tid).u32(1).u64(tid * 10);
    add(RecordType::fork, 0, fork, 1, tid * 10);
    auto comm = file.body();
    comm.u32(1).u32(tid).text_padded("app", 8);
    add(RecordType::comm, perf::kMiscCommExec, comm, tid, tid * 10 + 1);
  }
  for (std::uint64_t time = 100; time < 400; time += 100)
    for (const std::uint32_t tid : {1u, 2u}) {
      add(RecordType::switch_, 0, file.body(), tid, time);
      auto sample = file.body();
      sample.u64(0x1000 * tid).u32(1).u32(tid).u64(time + 10).u32(tid % 2).u32(0).u64(7);
      file.record(RecordType::sample, 2, sample);
      add(RecordType::switch_, perf::kMiscSwitchOut, file.body(), tid, time + 50);
    }
  for (const std::uint32_t tid : {2u, 1u}) {
    auto exit = file.body();
    exit.u32(1).u32(1).u32(tid).u32(1).u64(500 + tid);
    add(RecordType::exit, 0, exit, tid, 500 + tid);
  }
  const auto bytes = file.finish();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Where the records of a recording are. Its own byte order is found out by its magic.
class Records {
 public:
  explicit Records(std::string bytes) : bytes_(std::move(bytes)) {
    if (bytes_.size() < 16) return;
    is_big_ = bytes_[0] == '2';
    const bool is_pipe = number(8, 8) == 16;
    start_ = is_pipe ? 16 : number(40, 8);
    std::size_t end = is_pipe ? bytes_.size() : start_ + number(48, 8);
    end = std::min(end, bytes_.size());
    size_at_ = is_pipe ? 0 : 48;
    for (std::size_t at = start_; at + 8 <= end;) {
      const std::size_t size = number(at + 6, 2);
      if (size < 8 || size > end - at) break;
      places_.push_back({at, size});
      at += size;
    }
  }

  [[nodiscard]] std::size_t size() const { return places_.size(); }

  // The file ends behind record `i`.
  [[nodiscard]] std::string cut(std::size_t i) const {
    return bytes_.substr(0, places_[i].at + places_[i].size);
  }
  // The header knows of it: sections behind the records are still there.
  [[nodiscard]] std::string shortened(std::size_t i) const {
    std::string bytes = bytes_;
    set_size(bytes, places_[i].at - start_);
    return bytes;
  }
  [[nodiscard]] std::string without(std::size_t i) const { return replaced(i, {}); }
  [[nodiscard]] std::string doubled(std::size_t i) const { return replaced(i, {i, i}); }
  [[nodiscard]] std::string exchanged(std::size_t i) const {
    std::string bytes = bytes_;
    if (i + 1 < places_.size())
      std::rotate(bytes.begin() + at(i), bytes.begin() + at(i + 1),
                  bytes.begin() + at(i + 1) + static_cast<std::ptrdiff_t>(places_[i + 1].size));
    return bytes;
  }

 private:
  struct Place {
    std::size_t at;
    std::size_t size;
  };

  [[nodiscard]] std::ptrdiff_t at(std::size_t i) const {
    return static_cast<std::ptrdiff_t>(places_[i].at);
  }
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size && at + i < bytes_.size(); ++i)
      value |= std::uint64_t{static_cast<std::uint8_t>(bytes_[at + i])}
               << 8 * (is_big_ ? size - 1 - i : i);
    return value;
  }
  void set_size(std::string& bytes, std::uint64_t size) const {
    for (std::size_t i = 0; i < 8 && size_at_ != 0; ++i)
      bytes[size_at_ + i] = static_cast<char>(size >> 8 * (is_big_ ? 7 - i : i));
  }
  [[nodiscard]] std::string replaced(std::size_t i, const std::vector<std::size_t>& by) const {
    std::string records;
    for (const std::size_t other : by)
      records += bytes_.substr(places_[other].at, places_[other].size);
    std::string bytes = bytes_;
    bytes.replace(places_[i].at, places_[i].size, records);
    set_size(bytes, number(size_at_, 8) + records.size() - places_[i].size);
    return bytes;
  }

  std::string bytes_;
  bool is_big_ = false;
  std::size_t start_ = 0;
  std::size_t size_at_ = 0;  // of the header's number of bytes; 0 in a pipe
  std::vector<Place> places_;
};

std::vector<std::string> recordings() {
  std::vector<std::string> all{switched_recording()};
  const std::string folder = LOFT_SOURCE_DIR "/tests/fuzz/corpus/recording";
  for (const auto& name : list_directory(folder).value_or(std::vector<std::string>()))
    if (auto bytes = read_file(join_path(folder, name))) all.push_back(*std::move(bytes));
  return all;
}

TEST(Boundaries, EveryViewStandsRecordsThatAreCutLeftOutDoubledAndExchanged) {
  std::size_t shown = 0;
  std::size_t records = 0;
  const auto show = [&](const std::string& bytes) {
    shown += show_every_view(std::as_bytes(std::span(bytes.data(), bytes.size()))) != 0 ? 1 : 0;
  };
  for (const std::string& bytes : recordings()) {
    const Records each(bytes);
    records += each.size();
    for (std::size_t i = 0; i < each.size(); ++i) {
      show(each.cut(i));
      show(each.shortened(i));
      show(each.without(i));
      show(each.doubled(i));
      show(each.exchanged(i));
    }
  }
  EXPECT_GT(records, 60u);
  EXPECT_GT(shown, 4 * records);  // most of them are recordings still
}

}  // namespace
}  // namespace loft::fuzz
