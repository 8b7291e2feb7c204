// Makes a long recording out of a short one: its samples again and again, each time later, so that
// readers can be compared on a file of any size with real stacks and real binaries.
//
//   repeat_recording short.data TIMES long.data
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/mapping.hpp"
#include "format/perf/header.hpp"
#include "format/perf/sample.hpp"

namespace loft::format::perf {
namespace {

using Bytes = std::span<const std::byte>;

void put(std::ofstream& out, Bytes bytes) {
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

void put_u64(std::ofstream& out, std::uint64_t value) {
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

// The samples and round marks of `data`, with times moved on by `shift`.
std::vector<std::byte> moved_samples(Bytes data, const EventTable& events, std::uint64_t shift) {
  std::vector<std::byte> out;
  out.reserve(data.size());
  RecordWalker walker(data, kHostOrder);
  RawRecord record;
  while (walker.next(record)) {
    if (record.type != RecordType::sample && record.type != RecordType::finished_round) continue;
    const auto whole = data.subspan(record.offset, kRecordHeader + record.body.size());
    const std::size_t at = out.size();
    out.insert(out.end(), whole.begin(), whole.end());
    if (record.type != RecordType::sample) continue;
    const auto event = events.event_of_sample(record).value_or(0);
    const auto place = kRecordHeader + events.layout(event).places().time;
    const auto time = load<std::uint64_t>(out.data() + at + place, kHostOrder) + shift;
    std::memcpy(out.data() + at + place, &time, sizeof time);
  }
  return out;
}

int repeat(const char* from, std::uint64_t times, const char* to) {
  const auto file = Mapping::of_file(from);
  if (!file) return 1;
  const auto header = read_header(file->bytes());
  if (!header || header->is_pipe || header->order != kHostOrder) return 1;
  const EventTable events(header->events);
  const Bytes data = file->bytes().subspan(header->data.offset, header->data.size);
  std::ofstream out(to, std::ios::binary);
  put(out, file->bytes().first(header->data.offset));
  put(out, data);
  std::uint64_t size = data.size();
  constexpr std::uint64_t kStep = 60'000'000'000;  // longer than the short one
  for (std::uint64_t i = 1; i < times; ++i) {
    const auto more = moved_samples(data, events, i * kStep);
    put(out, more);
    size += more.size();
  }
  const std::uint64_t moved = size - data.size();
  for (const auto& feature : header->features) {
    put_u64(out, feature.where.offset + moved);
    put_u64(out, feature.where.size);
  }
  const std::uint64_t table =
      header->data.offset + header->data.size + header->features.size() * 16;
  put(out, file->bytes().subspan(table));
  out.seekp(48);  // the size of the data in the header
  put_u64(out, size);
  return out.good() ? 0 : 1;
}

}  // namespace
}  // namespace loft::format::perf

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: repeat_recording short.data TIMES long.data\n");
    return 2;
  }
  return loft::format::perf::repeat(argv[1], std::strtoull(argv[2], nullptr, 10), argv[3]);
}
