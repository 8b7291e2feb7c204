#include "base/mapping.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/file.hpp"
#include "base/temporary_folder.hpp"

namespace loft {
namespace {

constexpr std::size_t kPages = 64;

class MappingTest : public TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    file_ = path_ + "/file";
    page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    ASSERT_TRUE(replace_file(file_, std::string(kPages * page_, 'x')));
  }
  void cut_to(std::size_t size) const {
    ASSERT_EQ(::truncate(file_.c_str(), static_cast<off_t>(size)), 0);
  }
  std::string file_;
  std::size_t page_ = 0;
};

std::size_t count_of(Bytes bytes, char wanted) {
  return static_cast<std::size_t>(
      std::count(bytes.begin(), bytes.end(), static_cast<std::byte>(wanted)));
}

TEST_F(MappingTest, ShowsTheWholeFile) {
  const auto mapping = Mapping::of_file(file_);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(count_of(mapping->bytes(), 'x'), kPages * page_);
  EXPECT_FALSE(mapping->has_changed());
}

TEST_F(MappingTest, AFileThatShrinksReadsAsZerosAndSaysSo) {
  const auto mapping = Mapping::of_file(file_);
  ASSERT_TRUE(mapping);
  cut_to(3 * page_);
  EXPECT_EQ(count_of(mapping->bytes(), 'x'), 3 * page_);
  EXPECT_EQ(count_of(mapping->bytes(), '\0'), (kPages - 3) * page_);
  EXPECT_TRUE(mapping->has_changed());
  EXPECT_THAT(changed_files(), testing::Contains(file_));
}

TEST_F(MappingTest, AFileThatChangedIsRememberedWhenItIsUnmapped) {
  {
    const auto mapping = Mapping::of_file(file_);
    ASSERT_TRUE(mapping);
    cut_to(0);
    EXPECT_EQ(count_of(mapping->bytes(), 'x'), 0u);
  }
  EXPECT_THAT(changed_files(), testing::Contains(file_));
}

TEST_F(MappingTest, SeveralThreadsMeetTheEndAtOnce) {
  const auto mapping = Mapping::of_file(file_);
  ASSERT_TRUE(mapping);
  cut_to(page_);
  std::vector<std::size_t> seen(4);
  std::vector<std::thread> threads;
  for (std::size_t& count : seen)
    threads.emplace_back([&] { count = count_of(mapping->bytes(), 'x'); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(seen, testing::Each(page_));
  EXPECT_TRUE(mapping->has_changed());
}

TEST_F(MappingTest, AMappingThatWasMovedIsGuardedStill) {
  auto first = Mapping::of_file(file_);
  ASSERT_TRUE(first);
  Mapping second;
  second = *std::move(first);
  const Mapping third = std::move(second);
  cut_to(0);
  EXPECT_EQ(count_of(third.bytes(), '\0'), kPages * page_);
  EXPECT_TRUE(third.has_changed());
}

// More than are guarded at a time: the rest is copied.
TEST_F(MappingTest, NoNumberOfMappingsLeavesOneUnguarded) {
  cut_to(2 * page_);
  std::vector<Mapping> mappings;
  for (int i = 0; i < 4200; ++i) {
    auto mapping = Mapping::of_file(file_);
    ASSERT_TRUE(mapping) << i;
    mappings.push_back(*std::move(mapping));
  }
  cut_to(0);
  EXPECT_EQ(count_of(mappings.front().bytes(), '\0'), 2 * page_);
  EXPECT_EQ(count_of(mappings.back().bytes(), 'x'), 2 * page_) << "a copy stays what it was";
}

using MappingDeathTest = MappingTest;

TEST_F(MappingDeathTest, AFaultInMemoryOfOthersStillEndsTheProcess) {
  const auto guarded = Mapping::of_file(file_);  // so that the handler is there
  ASSERT_TRUE(guarded);
  const Fd fd(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  void* other = ::mmap(nullptr, page_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  ASSERT_NE(other, MAP_FAILED);
  cut_to(0);
#ifdef __SANITIZE_ADDRESS__  // whose own handler was there before, and reports the fault
  const auto end = testing::ExitedWithCode(1);
  const char* words = "AddressSanitizer: BUS";
#else
  const auto end = testing::KilledBySignal(SIGBUS);
  const char* words = "";
#endif
  EXPECT_EXIT(::_exit(*static_cast<volatile const char*>(other)), end, words);
  ::munmap(other, page_);
}

TEST_F(MappingTest, AnEmptyFileGivesAnEmptyMapping) {
  cut_to(0);
  const auto mapping = Mapping::of_file(file_);
  ASSERT_TRUE(mapping);
  EXPECT_FALSE(mapping->is_mapped());
  EXPECT_FALSE(mapping->has_changed());
}

// Opening a pipe to read from it waits for a writer: a cache file must not.
TEST_F(MappingTest, RefusesWhatIsNoRegularFileWithoutWaiting) {
  const std::string pipe = path_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto mapping = Mapping::of_file(pipe);
  ASSERT_FALSE(mapping);
  EXPECT_EQ(mapping.error().why, "it is not a regular file");
  EXPECT_FALSE(Mapping::of_file(path_));
  EXPECT_FALSE(Mapping::of_file("/dev/null"));
}

}  // namespace
}  // namespace loft
