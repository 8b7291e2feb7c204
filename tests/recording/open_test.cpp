// Opening what is no plain file, what changes, and what is somebody else's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "format/builders.hpp"
#include "source/file/recording.hpp"
#include "source/file/spool.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

class OpenRecording : public TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    file_ = path_ + "/perf.data";
    perf::RecordingBuilder file;
    file.event({});
    for (std::uint64_t time = 0; time < 2000; ++time) {
      auto sample = file.body();
      sample.u64(0x1000).u32(7).u32(8).u64(time).u64(3);
      file.record(RecordType::sample, 2, sample);
    }
    const auto bytes = file.finish();
    text_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ASSERT_TRUE(replace_file(file_, text_));
  }
  std::string file_;
  std::string text_;
};

std::uint64_t samples_in(const Recording& recording) {
  std::uint64_t count = 0;
  recording.in_file_order([&](const PlacedRecord& placed) {
    count += placed.record.type == RecordType::sample;
    return true;
  });
  return count;
}

// Once this ended loft with SIGBUS.
TEST_F(OpenRecording, AFileThatShrinksWhileItIsReadIsNamed) {
  const auto recording = Recording::open(file_);
  ASSERT_TRUE(recording) << to_string(recording.error());
  EXPECT_EQ(samples_in(**recording), 2000u);
  EXPECT_TRUE((*recording)->check_unchanged());
  ASSERT_EQ(::truncate(file_.c_str(), 4096), 0);
  EXPECT_LT(samples_in(**recording), 2000u);
  const auto unchanged = (*recording)->check_unchanged();
  ASSERT_FALSE(unchanged);
  EXPECT_EQ(unchanged.error().what, "read '" + file_ + "'");
  EXPECT_EQ(unchanged.error().why, "it changed while it was read");
}

// Once this went on until the disk was full.
TEST_F(OpenRecording, AStreamThatDoesNotStartLikeARecordingIsNotReadOn) {
  const auto recording = Recording::open("/dev/zero");
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().why, "it starts with nothing but zeros");
}

TEST_F(OpenRecording, AStreamMayComeInSmallPieces) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd out(ends[0]);
  std::thread writer([&, in = Fd(ends[1])] {
    for (const std::string_view piece :
         {std::string_view(text_).substr(0, 3), std::string_view(text_).substr(3, 4),
          std::string_view(text_).substr(7)})
      EXPECT_TRUE(write_all(in, piece, "pipe"));
  });
  const auto recording = Recording::open("/proc/self/fd/" + std::to_string(out.get()));
  writer.join();
  ASSERT_TRUE(recording) << to_string(recording.error());
  EXPECT_EQ(samples_in(**recording), 2000u);
}

TEST_F(OpenRecording, ASpoolTakesNoMoreThanItsLimit) {
  auto spool = Spool::create(10);
  ASSERT_TRUE(spool);
  const std::vector<std::byte> bytes(6);
  EXPECT_TRUE(spool->append(bytes));
  const auto more = spool->append(bytes);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().kind, ErrorKind::limit);
  EXPECT_THAT(more.error().hint, testing::HasSubstr("TMPDIR"));
  const Fd zeros = *open_input("/dev/zero");
  auto limited = Spool::create(3 << 20);
  ASSERT_TRUE(limited);
  EXPECT_FALSE(limited->append_all(zeros)) << "it has an end";
}

TEST_F(OpenRecording, ARecordingOfAnotherUserComesWithAWarning) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(file_.c_str(), 54321, 0), 0);
  const auto theirs = Recording::open(file_);
  ASSERT_TRUE(theirs);
  EXPECT_THAT((*theirs)->summary().notes,
              testing::Contains("it belongs to user 54321: read it only if you trust them"));
  ASSERT_EQ(::chown(file_.c_str(), 0, 0), 0);
  const auto ours = Recording::open(file_);
  ASSERT_TRUE(ours);
  EXPECT_THAT((*ours)->summary().notes, testing::IsEmpty());
}

}  // namespace
}  // namespace loft::source
