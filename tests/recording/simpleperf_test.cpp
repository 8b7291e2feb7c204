// Recordings of Android's simpleperf: its own records and sections beside those of perf.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/builders.hpp"
#include "format/perf/features.hpp"
#include "sample/report.hpp"
#include "source/file/profile_recording.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;
using format::ByteBuilder;
using perf_data::RecordedBinary;

constexpr std::uint16_t kKernel = 1;
constexpr std::uint16_t kUser = 2;

std::uint32_t bit(perf::Feature feature) { return static_cast<std::uint32_t>(feature); }

void add_sample(perf::RecordingBuilder& file, std::uint16_t mode, std::uint64_t ip) {
  auto body = file.body();
  body.u64(ip).u32(7).u32(7).u64(1000).u64(1);
  file.record(RecordType::sample, mode, body);
}

void add_map(perf::RecordingBuilder& file, std::uint64_t start, std::uint64_t length,
             std::uint64_t offset, std::string_view path, std::uint32_t protection = 5) {
  auto body = file.body();
  body.u32(7).u32(7).u64(start).u64(length).u64(offset).u32(0).u32(0).u64(0).u64(0);
  body.u32(protection).u32(2).text_padded(path, 8).u32(7).u32(7).u64(0);
  file.record(RecordType::mmap2, kUser, body);
}

// A record that is longer than one may be, cut into pieces of any size.
void add_in_pieces(perf::RecordingBuilder& file, RecordType type, std::string_view content,
                   std::size_t piece) {
  auto whole = file.body();
  const auto size = static_cast<std::uint32_t>(12 + content.size());
  whole.u32(static_cast<std::uint32_t>(type));
  whole.u16(static_cast<std::uint16_t>(size >> 16)).u16(static_cast<std::uint16_t>(size));
  whole.u32(static_cast<std::uint32_t>(content.size())).text(content);
  for (auto left = whole.view(); !left.empty();) {
    const auto part = left.first(std::min(piece, left.size()));
    auto record = file.body();
    record.u32(static_cast<std::uint32_t>(RecordType::simpleperf_split)).u16(0);
    record.u16(static_cast<std::uint16_t>(8 + part.size())).bytes(part);
    file.raw(record.view());
    left = left.subspan(part.size());
  }
  file.record(RecordType::simpleperf_split_end, 0, file.body());
}

// A section entry of the first form.
ByteBuilder file_entry(const RecordedBinary& binary) {
  ByteBuilder entry(ByteOrder::little);
  entry.text(binary.path).u8(0).u32(static_cast<std::uint32_t>(binary.kind));
  entry.u64(binary.code_address).u32(static_cast<std::uint32_t>(binary.symbols.size()));
  for (const auto& symbol : binary.symbols)
    entry.u64(symbol.address).u32(static_cast<std::uint32_t>(symbol.size)).text(symbol.name).u8(0);
  if (binary.code_offset) entry.u64(*binary.code_offset);
  ByteBuilder out(ByteOrder::little);
  out.u32(static_cast<std::uint32_t>(entry.size())).bytes(entry.view());
  return out;
}

// Protobuf by hand: a key, then a number or a length and bytes.
class Message {
 public:
  Message& number(unsigned field, std::uint64_t value) { return varint(field << 3).varint(value); }
  Message& bytes(unsigned field, std::string_view content) {
    varint(field << 3 | 2).varint(content.size());
    text_ += content;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Message& varint(std::uint64_t value) {
    for (; value > 0x7F; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
    return *this;
  }
  std::string text_;
};

std::vector<std::string> functions_in(const Recording& recording) {
  const auto profiled = profile_recording(recording, {}, {}, 1, nullptr);
  if (!profiled) return {to_string(profiled.error())};
  sample::ReportOptions shown;
  shown.sort = sample::SortBy::name;
  const auto report = sample::make_report(recording.summary(), profiled->result,
                                          *profiled->locations, recording.history(), shown);
  std::vector<std::string> names;
  for (const auto& row : report.rows) names.push_back(row.keys.function);
  return names;
}

TEST(Simpleperf, ItsOwnRecordsAreCountedAndAreNoDamage) {
  perf::RecordingBuilder file;
  file.event({});
  auto dso = file.body();
  dso.u64(2).u64(1).u64(0x1000).text_padded("/system/lib64/libc.so", 8);
  file.record(RecordType::simpleperf_dso, 0, dso);
  add_sample(file, kUser, 0x1000);
  auto chain = file.body();
  chain.u32(7).u32(7).u64(0).u64(5).u64(1).u64(0x1000).u64(0x7000);
  file.record(RecordType::simpleperf_callchain, 0, chain);
  auto newer = file.body();
  newer.u64(1);
  file.record(static_cast<RecordType>(32790), 0, newer);
  add_sample(file, kUser, 0x1000);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  const auto& summary = (*recording)->summary();
  EXPECT_EQ(summary.samples, 2u);
  EXPECT_EQ(summary.damaged_bytes, 0u);
  EXPECT_THAT(summary.notes, testing::IsEmpty());
  EXPECT_EQ(summary.records.at("SIMPLEPERF_DSO"), 1u);
  EXPECT_EQ(summary.records.at("SIMPLEPERF_CALLCHAIN"), 1u);
  EXPECT_EQ(summary.records.at("type 32790"), 1u);
}

TEST(Simpleperf, AKallsymsInPiecesNamesKernelFunctions) {
  perf::RecordingBuilder file;
  file.event({});
  auto map = file.body();
  map.u32(~0u).u32(0).u64(0xffffff8000000000).u64(0x1000000).u64(0xffffff8000000000);
  map.text_padded("[kernel.kallsyms]_text", 8).u32(0).u32(0).u64(0);
  file.record(RecordType::mmap, kKernel, map);
  std::string kallsyms = "ffffff8000080000 T _text\nffffff8000081000 T do_idle\n";
  for (int i = 0; i < 5000; ++i) kallsyms += "ffffff8000090000 t a_long_name_of_a_function\n";
  add_in_pieces(file, RecordType::simpleperf_kernel_symbol, kallsyms, 65527);
  add_sample(file, kKernel, 0xffffff8000081010);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_THAT((*recording)->summary().notes, testing::IsEmpty());
  EXPECT_EQ((*recording)->summary().records.at("SIMPLEPERF_SPLIT"), 4u);
  EXPECT_EQ((*recording)->kallsyms(), kallsyms);
  EXPECT_THAT(functions_in(**recording), testing::ElementsAre("do_idle"));
}

TEST(Simpleperf, PiecesThatMakeNoRecordAreTold) {
  perf::RecordingBuilder file;
  file.event({});
  auto piece = file.body();
  piece.u32(32769).u16(9).u16(1).u64(0);
  file.record(RecordType::simpleperf_split, 0, piece);
  file.record(RecordType::simpleperf_split_end, 0, file.body());
  add_sample(file, kUser, 0x1000);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_THAT((*recording)->summary().notes,
              testing::ElementsAre("a record that came in pieces is not whole"));
  EXPECT_EQ((*recording)->summary().samples, 1u);
}

TEST(Simpleperf, EventIdRecordsTellWhoseSamplesTheyAre) {
  perf::RecordingBuilder file;
  const std::uint64_t fields = perf::kIp | perf::kTid | perf::kTime | perf::kId;
  file.event({.config = 0, .sample_type = fields, .ids = {1}});
  file.event({.config = 2, .sample_type = fields, .ids = {2}});
  auto ids = file.body();
  ids.u64(2).u64(1).u64(77).u64(9).u64(78);  // the second is of no event
  file.record(RecordType::simpleperf_event_id, 0, ids);
  auto sample = file.body();
  sample.u64(0x1000).u32(7).u32(7).u64(1000).u64(77);
  file.record(RecordType::sample, kUser, sample);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ((*recording)->events().event_of_id(77), 1u);
  EXPECT_EQ((*recording)->events().event_of_id(78), std::nullopt);
}

TEST(Simpleperf, FunctionsThatTheRecordingBringsAlongAreNamed) {
  perf::RecordingBuilder file;
  file.event({});
  add_map(file, 0x7000000000, 0x10000, 0x4000, "/system/lib64/libnot_here.so");
  add_map(file, 0x7100000000, 0x10000, 0, "/data/app/base.vdex");
  add_map(file, 0x7200000000, 0x1000, 0, "/data/perf.data_jit_app_cache:0-10", 0x4005);
  add_map(file, 0x7200001000, 0x1000, 0, "/data/perf.data_jit_app_cache:0-10", 0x4005);
  add_sample(file, kUser, 0x7000000010);
  add_sample(file, kUser, 0x7100000108);
  add_sample(file, kUser, 0x7200000004);
  add_sample(file, kUser, 0x7200001004);
  ByteBuilder files(ByteOrder::little);
  // Code that the file has from 0x4000 on and that belongs at 0x5000.
  files.bytes(file_entry({"/system/lib64/libnot_here.so",
                          RecordedBinary::Kind::elf,
                          0x5000,
                          0x4000,
                          {{0x5000, 0x20, "_Z5startv"}}})
                  .view());
  files.bytes(file_entry({"/data/perf.data_jit_app_cache:0-10",
                          RecordedBinary::Kind::elf,
                          0,
                          0,
                          {{0x7200000000, 16, "made.first"}, {0x7200001000, 16, "made.second"}}})
                  .view());
  file.feature(bit(perf::Feature::simpleperf_files), files);
  Message dex;
  dex.bytes(1, "/data/app/base.vdex").number(2, 3).number(3, 0);
  dex.bytes(4, Message().number(1, 0x100).number(2, 16).bytes(3, "app.MainActivity.run").text());
  dex.bytes(5, Message().number(1, 0x28).text());
  ByteBuilder files2(ByteOrder::little);
  files2.u32(static_cast<std::uint32_t>(dex.text().size())).text(dex.text());
  file.feature(bit(perf::Feature::simpleperf_files2), files2);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_THAT((*recording)->summary().notes, testing::IsEmpty());
  EXPECT_THAT(functions_in(**recording),
              testing::ElementsAre("app.MainActivity.run", "made.first", "made.second", "start"));
}

TEST(Simpleperf, OlderOnesNameFunctionsInRecords) {
  perf::RecordingBuilder file;
  file.event({});
  add_map(file, 0x7000000000, 0x10000, 0x1000, "/system/lib64/libnot_here.so");
  auto dso = file.body();
  dso.u64(2).u64(5).u64(0).text_padded("/system/lib64/libnot_here.so", 8);
  file.record(RecordType::simpleperf_dso, 0, dso);
  for (const std::uint64_t id : {5, 6}) {  // there is no binary 6
    auto symbol = file.body();
    symbol.u64(0x1000).u64(0x20).u64(id).text_padded("function of " + std::to_string(id), 8);
    file.record(RecordType::simpleperf_symbol, 0, symbol);
  }
  add_sample(file, kUser, 0x7000000010);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_THAT(functions_in(**recording), testing::ElementsAre("function of 5"));
}

TEST(Simpleperf, FactsNameTheEvents) {
  perf::RecordingBuilder file;
  file.event({.type = 2, .config = 45});
  add_sample(file, kUser, 0x1000);
  ByteBuilder facts(ByteOrder::little);
  facts.text("android_version").u8(0).text("13").u8(0);
  facts.text("event_type_info").u8(0).text("cpu-clock,1,0\nsched:sched_switch,2,45").u8(0);
  file.feature(bit(perf::Feature::simpleperf_facts), facts);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ((*recording)->metadata().events[0].name, "sched:sched_switch");
  EXPECT_EQ((*recording)->metadata().simpleperf_facts.size(), 2u);
}

TEST(Simpleperf, MappingsInASectionOfTheirOwnAreSeen) {
  perf::RecordingBuilder maps;
  add_map(maps, 0x7000000000, 0x10000, 0, "/system/lib64/libnot_here.so");
  const auto inner = maps.finish();
  ByteBuilder section(ByteOrder::little);
  section.bytes(std::span(inner).subspan(104));
  perf::RecordingBuilder file;
  file.event({});
  add_sample(file, kUser, 0x7000000010);
  file.feature(bit(perf::Feature::simpleperf_first_maps), section);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ((*recording)->summary().records.at("MMAP2"), 1u);
  EXPECT_THAT(functions_in(**recording), testing::ElementsAre("libnot_here.so+0x10"));
}

TEST(Simpleperf, ADamagedSectionIsToldAndTheRestRead) {
  perf::RecordingBuilder file;
  file.event({});
  add_sample(file, kUser, 0x1000);
  ByteBuilder files(ByteOrder::little);
  files.bytes(file_entry({"/a", RecordedBinary::Kind::elf, 0, 0, {{0, 1, "f"}}}).view());
  files.u32(1000).u64(0);
  file.feature(bit(perf::Feature::simpleperf_files), files);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  EXPECT_THAT((*recording)->summary().notes,
              testing::ElementsAre("header feature SIMPLEPERF_FILE is damaged"));
  ASSERT_EQ((*recording)->metadata().recorded_binaries.size(), 1u);
  EXPECT_EQ((*recording)->summary().samples, 1u);
}

}  // namespace
}  // namespace loft::source
