// Real recordings of other machines and tools: what must come out of each is in the index beside
// them.
#include <gtest/gtest.h>

#include <map>

#include "base/file.hpp"
#include "base/text.hpp"
#include "source/file/recording.hpp"

namespace loft::source {
namespace {

const std::string kCorpus = LOFT_SOURCE_DIR "/../shared/corpus";

struct Expected {
  std::string file;
  std::vector<std::string> events;
  std::map<std::string, std::uint64_t> records;
  std::optional<std::uint64_t> samples;
};

std::string full_name(std::string_view word) {
  if (word.starts_with("HDR_")) return "HEADER_" + std::string(word.substr(4));
  return std::string(word);
}

std::vector<Expected> read_index() {
  std::vector<Expected> all;
  const auto text = read_file(kCorpus + "/INDEX.tsv");
  if (!text) return all;
  for (const auto line : split(*text, '\n')) {
    const auto columns = split(line, '\t');
    if (columns.size() < 10 || columns[0] == "file") continue;
    auto& expected = all.emplace_back();
    expected.file = columns[0];
    for (const auto event : split(columns[7], ',')) expected.events.emplace_back(event);
    for (const auto pair : split(columns[9], ' ')) {
      const auto parts = split(pair, '=');
      if (parts.size() == 2)
        expected.records[full_name(parts[0])] = parse_u64(parts[1]).value_or(0);
    }
    if (columns.size() > 10) expected.samples = parse_u64(columns[10]);
  }
  return all;
}

class CountingSink : public sample::SampleSink {
 public:
  void add(const sample::Sample& sample) override {
    ++samples;
    resolved += history->space_at(sample.pid, sample.time) != 0;
  }
  void finish(std::uint64_t count) override { unreadable = count; }
  const sample::TaskHistory* history = nullptr;
  std::uint64_t samples = 0;
  std::uint64_t resolved = 0;
  std::uint64_t unreadable = 0;
};

TEST(Corpus, EveryRecordingGivesTheCountsOfTheIndex) {
  const auto index = read_index();
  if (index.empty()) GTEST_SKIP() << "no corpus at " << kCorpus;
  EXPECT_GE(index.size(), 29u);
  for (const auto& expected : index) {
    SCOPED_TRACE(expected.file);
    const auto recording = Recording::open(kCorpus + "/" + expected.file);
    ASSERT_TRUE(recording) << to_string(recording.error());
    const auto& summary = (*recording)->summary();
    EXPECT_EQ(summary.damaged_bytes, 0u);
    for (const auto& note : summary.notes) ADD_FAILURE() << note;
    const bool is_packed =
        expected.records.contains("COMPRESSED") || expected.records.contains("COMPRESSED2");
    for (const auto& [type, count] : expected.records) {
      const auto found = summary.records.find(type);
      const auto got = found == summary.records.end() ? 0 : found->second;
      if (is_packed) {
        EXPECT_GE(got, count) << type;
      } else {
        EXPECT_EQ(got, count) << type;
      }
    }
    if (!is_packed) {
      EXPECT_EQ(summary.records.size(), expected.records.size());
    }
    CountingSink sink;
    sink.history = &(*recording)->history();
    (*recording)->for_each_sample(1, [&](unsigned) { return &sink; });
    EXPECT_EQ(sink.unreadable, 0u);
    EXPECT_EQ(summary.samples, expected.samples.value_or(summary.samples));
    // Of a group of two whose leader alone takes samples, each sample is one of both.
    const bool is_group = expected.file == "PerfFormatLost.data";
    EXPECT_EQ(sink.samples, summary.samples * (is_group ? 2 : 1));
    EXPECT_EQ(summary.metadata.events.size(), expected.events.size());
    for (std::size_t i = 0; i < expected.events.size() && i < summary.metadata.events.size(); ++i) {
      const bool has_no_name = expected.events[i].find("W:0x") != std::string::npos;
      if (!has_no_name) {
        EXPECT_EQ(summary.metadata.events[i].name, expected.events[i]);
      }
    }
  }
}

// What perf itself counts in the two recordings of a big-endian machine, which the index leaves
// out.
struct BigEndian {
  const char* file;
  std::vector<std::string> events;
  std::vector<std::uint64_t> samples;  // by event
  std::uint64_t mappings;
  std::uint64_t call_chains;
};

class SamplesByEvent : public sample::SampleSink {
 public:
  void add(const sample::Sample& sample) override {
    ++samples[sample.event];
    chains += sample.call_chain.empty() ? 0 : 1;
    in_order_of_bytes &= sample.time > 1'000'000'000 && sample.time < 1'000'000'000'000;
  }
  std::map<std::uint32_t, std::uint64_t> samples;
  std::uint64_t chains = 0;
  bool in_order_of_bytes = true;
};

TEST(Corpus, ABigEndianMachinesRecordingsAreReadWhole) {
  if (!file_exists(kCorpus)) GTEST_SKIP() << "no corpus at " << kCorpus;
  const std::vector<BigEndian> all = {
      {"big_endian_b.data",
       {"sched:sched_switch", "context-switches", "page-faults"},
       {11, 11, 23},
       12,
       0},
      {"big_endian_c.data", {"cpu-clock:u", "page-faults:u"}, {111, 2}, 2, 113}};
  for (const auto& expected : all) {
    SCOPED_TRACE(expected.file);
    const auto recording = Recording::open(kCorpus + "/" + expected.file);
    ASSERT_TRUE(recording) << to_string(recording.error());
    const auto& summary = (*recording)->summary();
    EXPECT_TRUE(summary.metadata.is_big_endian);
    EXPECT_EQ(summary.metadata.arch, "s390x");
    EXPECT_EQ(summary.damaged_bytes, 0u);
    EXPECT_TRUE(summary.notes.empty());
    EXPECT_EQ(summary.records.at("MMAP2"), expected.mappings);
    SamplesByEvent sink;
    (*recording)->for_each_sample(1, [&](unsigned) { return &sink; });
    EXPECT_TRUE(sink.in_order_of_bytes);
    EXPECT_EQ(sink.chains, expected.call_chains);
    ASSERT_EQ(summary.metadata.events.size(), expected.events.size());
    for (std::uint32_t i = 0; i < expected.events.size(); ++i) {
      EXPECT_EQ(summary.metadata.events[i].name, expected.events[i]);
      EXPECT_EQ(sink.samples[i], expected.samples[i]);
    }
  }
}

TEST(Corpus, RecordsComeInOrderOfTimeAndAllOfThem) {
  const auto index = read_index();
  if (index.empty()) GTEST_SKIP() << "no corpus at " << kCorpus;
  for (const auto& expected : index) {
    SCOPED_TRACE(expected.file);
    const auto recording = Recording::open(kCorpus + "/" + expected.file);
    ASSERT_TRUE(recording);
    std::uint64_t last = 0;
    std::uint64_t backwards = 0;
    std::uint64_t seen = 0;
    (*recording)->in_order([&](const PlacedRecord& placed) {
      ++seen;
      if (placed.time && *placed.time < last) ++backwards;
      last = placed.time.value_or(last);
      return true;
    });
    std::uint64_t all = 0;
    for (const auto& [type, count] : (*recording)->summary().records)
      if (!type.starts_with("COMPRESSED")) all += count;
    EXPECT_EQ(seen, all);
    EXPECT_EQ(backwards, 0u);
  }
}

TEST(Corpus, InputsThatOnceBrokeAReaderAreReadOrRefused) {
  const auto names = list_directory(kCorpus + "/fuzz");
  if (!names) GTEST_SKIP() << "no corpus at " << kCorpus;
  for (const auto& name : *names) {
    SCOPED_TRACE(name);
    const auto recording = Recording::open(kCorpus + "/fuzz/" + name);
    if (!recording) {
      EXPECT_FALSE(recording.error().why.empty());
      continue;
    }
    CountingSink sink;
    sink.history = &(*recording)->history();
    (*recording)->for_each_sample(1, [&](unsigned) { return &sink; });
    (*recording)->in_order([](const PlacedRecord&) { return true; });
  }
}

}  // namespace
}  // namespace loft::source
