#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>

#include "base/file.hpp"
#include "format/builders.hpp"
#include "loft/perf_data.hpp"

namespace loft::perf_data {
namespace {

namespace perf = format::perf;

class PublicReader : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/loft-reader-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    path_ = folder_ + "/perf.data";
    perf::RecordingBuilder file;
    file.event({});
    auto comm = file.body();
    comm.u32(7).u32(8).text_padded("app", 8).u32(7).u32(8).u64(5);
    file.record(RecordType::comm, 0, comm);
    for (const std::uint64_t time : {20, 10}) {
      auto sample = file.body();
      sample.u64(0x1000).u32(7).u32(8).u64(time).u64(3);
      file.record(RecordType::sample, 2, sample);
    }
    const auto bytes = file.finish();
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ASSERT_TRUE(replace_file(path_, text));
  }
  void TearDown() override {
    ::remove(path_.c_str());
    ::remove(folder_.c_str());
  }
  std::string folder_;
  std::string path_;
};

TEST_F(PublicReader, IteratesInOrderOfTimeWithTypedViews) {
  std::string why;
  const auto reader = Reader::open(path_, why);
  ASSERT_NE(reader, nullptr) << why;
  std::vector<std::uint64_t> times;
  int comms = 0;
  for (const Record& record : *reader) {
    if (const auto sample = record.as<Sample>()) times.push_back(*sample->who.time);
    if (const auto comm = record.as<Comm>()) {
      ++comms;
      EXPECT_EQ(comm->name, "app");
      EXPECT_EQ(record.id().tid, 8u);
    }
    EXPECT_FALSE(record.as<Mmap>());
  }
  EXPECT_EQ(times, (std::vector<std::uint64_t>{10, 20}));
  EXPECT_EQ(comms, 1);
  EXPECT_EQ(reader->records_by_type().at("SAMPLE"), 2u);
}

TEST_F(PublicReader, CallsBack) {
  std::string why;
  const auto reader = Reader::open(path_, why);
  ASSERT_NE(reader, nullptr) << why;
  int samples = 0;
  int others = 0;
  Callbacks calls;
  calls.on_sample = [&](const Record&, const Sample& sample) { samples += *sample.period == 3; };
  calls.on_record = [&](const Record&) { ++others; };
  reader->run(calls);
  EXPECT_EQ(samples, 2);
  EXPECT_EQ(others, 1);
}

#ifdef LOFT_EXAMPLE  // not with a static loft
TEST_F(PublicReader, TheExampleRuns) {
  const std::string command = std::string(LOFT_EXAMPLE) + " " + path_;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  char chunk[256];
  while (const auto got = std::fread(chunk, 1, sizeof chunk, pipe)) output.append(chunk, got);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_NE(output.find("thread 8: 2 samples"), std::string::npos) << output;
}
#endif

TEST(PublicReaderErrors, SayWhatToDo) {
  std::string why;
  EXPECT_EQ(Reader::open("/nonexistent/perf.data", why), nullptr);
  EXPECT_NE(why.find("record"), std::string::npos);
}

}  // namespace
}  // namespace loft::perf_data
