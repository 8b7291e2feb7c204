// The first walk, shared out to several threads, against the walk of one.
#include <gtest/gtest.h>

#include <random>

#include "format/builders.hpp"
#include "source/file/recording.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

// Samples with call chains of many lengths, and names of threads between them.
perf::Bytes recording_bytes(std::mt19937& dice) {
  perf::RecordingBuilder file;
  file.event({.sample_type = perf::kIp | perf::kTid | perf::kTime | perf::kCallchain});
  for (std::uint32_t i = 0; i < 300; ++i) {
    auto body = file.body();
    if (dice() % 10 == 0) {
      body.u32(1).u32(i).text_padded("thread" + std::to_string(i), 8).u32(1).u32(i).u64(i);
      file.record(RecordType::comm, 0, body);
      continue;
    }
    const std::uint64_t frames = dice() % 20;
    body.u64(0x1000).u32(1).u32(i).u64(i).u64(frames);
    for (std::uint64_t f = 0; f < frames; ++f) body.u64(0x1000 + f);
    file.record(RecordType::sample, 2, body);
  }
  return file.finish();
}

// All that the walk found: counts, damages, names, the places of samples.
std::string found_in(const perf::Bytes& bytes, const WalkOptions& options) {
  const auto recording = Recording::of_bytes(bytes, options);
  if (!recording) return "refused";
  struct Places : sample::SampleSink {
    void add(const sample::Sample& sample) override { text += std::to_string(sample.place) + " "; }
    void finish(std::uint64_t unreadable) override {
      text += "unreadable " + std::to_string(unreadable) + "\n";
    }
    std::string text;
  } places;
  (*recording)->for_each_sample(1, [&](unsigned) { return &places; });
  const auto& summary = (*recording)->summary();
  std::string text = places.text + "damaged " + std::to_string(summary.damaged_bytes) + "\n";
  for (const auto& [type, count] : summary.records)
    text += type + " " + std::to_string(count) + "\n";
  for (const auto& note : summary.notes) text += note + "\n";
  for (const auto& name : (*recording)->history().names()) text += name + "\n";
  return text;
}

TEST(Survey, PartsGiveWhatTheWholeGives) {
  std::mt19937 dice(1);
  for (int round = 0; round < 20; ++round) {
    const auto bytes = recording_bytes(dice);
    const std::string whole = found_in(bytes, {});
    ASSERT_NE(whole.find("COMM "), std::string::npos);
    for (const std::uint64_t part : {64u, 256u, 1000u, 4096u})
      ASSERT_EQ(found_in(bytes, {.workers = 3, .part = part}), whole) << "parts of " << part;
  }
}

TEST(Survey, DamageIsFoundTheSameWhoeverWalks) {
  std::mt19937 dice(2);
  for (int round = 0; round < 200; ++round) {
    auto bytes = recording_bytes(dice);
    for (std::size_t blow = dice() % 8; blow-- > 0;) {
      const std::size_t at = 300 + dice() % (bytes.size() - 300);
      const std::size_t size = std::min<std::size_t>(1 + dice() % 400, bytes.size() - at);
      for (std::size_t i = 0; i < size; ++i)
        bytes[at + i] = static_cast<std::byte>(round % 2 == 0 ? 0xFF : dice());
    }
    const std::string whole = found_in(bytes, {});
    for (const std::uint64_t part : {128u, 1024u})
      ASSERT_EQ(found_in(bytes, {.workers = 2, .part = part}), whole) << "round " << round;
  }
}

// The bytes of an AUX buffer look like anything, also like records.
TEST(Survey, APartThatStartsInsideOfAPayloadIsNotBelieved) {
  perf::RecordingBuilder file;
  file.event({});
  perf::RecordingBuilder inner;
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto sample = inner.body();
    sample.u64(0x1000).u32(1).u32(1).u64(i).u64(1);
    inner.record(RecordType::sample, 2, sample);
  }
  const auto whole = inner.finish();
  const auto payload = std::span(whole).subspan(104);
  auto auxtrace = file.body();
  auxtrace.u64(payload.size()).u64(0).u64(0).u32(0).u32(0).u32(0).u32(0);
  file.record(RecordType::auxtrace, 0, auxtrace);
  file.raw(payload);
  auto sample = file.body();
  sample.u64(0x1000).u32(1).u32(1).u64(7).u64(1);
  file.record(RecordType::sample, 2, sample);
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes, {.workers = 2, .part = 512});
  ASSERT_TRUE(recording);
  EXPECT_EQ((*recording)->summary().samples, 1u);
  EXPECT_EQ(found_in(bytes, {.workers = 2, .part = 512}), found_in(bytes, {}));
}

TEST(Survey, SaysThatATraceOfTheProcessorIsNotDecoded) {
  perf::RecordingBuilder file;
  file.event({});
  auto auxtrace = file.body();
  auxtrace.u64(16).u64(0).u64(0).u32(0).u32(0).u32(0).u32(0);
  file.record(RecordType::auxtrace, 0, auxtrace);
  auto payload = file.body();
  file.raw(payload.u64(1).u64(2).view());
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  ASSERT_EQ((*recording)->summary().notes.size(), 1u);
  EXPECT_NE((*recording)->summary().notes[0].find("perf inject --itrace"), std::string::npos);
}

}  // namespace
}  // namespace loft::source
