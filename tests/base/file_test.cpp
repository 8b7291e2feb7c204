#include "base/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/file_replacement.hpp"
#include "base/temporary_folder.hpp"

namespace loft {
namespace {

using FileTest = TemporaryFolder;

TEST_F(FileTest, ReplaceMakesFoldersAndLeavesNothingBeside) {
  const std::string path = path_ + "/a/b/file";
  ASSERT_TRUE(replace_file(path, "one"));
  ASSERT_TRUE(replace_file(path, "two"));
  EXPECT_EQ(*read_file(path), "two");
  EXPECT_EQ(list_directory(path_ + "/a/b")->size(), 1u);
}

TEST_F(FileTest, AFailedReplaceKeepsTheOldFile) {
  const std::string path = path_ + "/file";
  ASSERT_TRUE(replace_file(path, "good"));
  ASSERT_EQ(::mkdir((path_ + "/taken").c_str(), 0755), 0);
  ASSERT_TRUE(replace_file(path_ + "/taken/inside", "x"));
  EXPECT_FALSE(replace_file(path_ + "/taken", "bad")) << "a folder is in the way";
  EXPECT_EQ(*read_file(path), "good");
  EXPECT_EQ(list_directory(path_)->size(), 2u);
}

// Once `-o /dev/null` put a file in the place of the device.
TEST_F(FileTest, WhatIsNoFileIsWrittenToAndNotReplaced) {
  std::filesystem::create_directories(path_);
  const std::string pipe = path_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(pipe).value_or("nothing"); });
  EXPECT_TRUE(replace_file(pipe, "text"));
  reader.join();
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(FileTest, APipeThatNobodyWritesToIsAnError) {
  const std::string pipe = path_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto fd = open_input(pipe, std::chrono::milliseconds(20));
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().why, "it is a pipe that nobody writes to");
}

TEST_F(FileTest, AWriterThatSaysNothingYetIsWaitedFor) {
  const std::string pipe = path_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Fd both(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));  // a writer without a word
  ASSERT_TRUE(both.is_open());
  const auto fd = open_input(pipe, std::chrono::milliseconds(0));
  ASSERT_TRUE(fd);
  ASSERT_TRUE(write_all(both, "word", pipe));
  char text[5] = "";
  EXPECT_EQ(::read(fd->get(), text, 4), 4) << "nothing was taken out of the pipe before";
  EXPECT_STREQ(text, "word");
  EXPECT_EQ(::fcntl(fd->get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(FileTest, WhatAWriterLeftInAPipeBeforeItWentIsRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd out(ends[0]);
  {
    const Fd in(ends[1]);
    ASSERT_TRUE(write_all(in, "left", "pipe"));
  }
  EXPECT_EQ(read_file("/proc/self/fd/" + std::to_string(out.get())).value_or("nothing"), "left");
}

TEST_F(FileTest, WritesAtItsPlaceAndSaysWhenTheDiskIsFull) {
  auto file = FileReplacement::of(path_ + "/file");
  ASSERT_TRUE(file);
  const std::byte bytes[] = {std::byte{'b'}, std::byte{'c'}};
  ASSERT_TRUE(write_all_at(file->fd(), 1, bytes, "file"));
  ASSERT_TRUE(write_all_at(file->fd(), 0, std::span(bytes).first(1), "file"));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(*read_file(path_ + "/file"), "bbc");
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const auto written = write_all_at(full, 0, bytes, "the recording");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what, "write 'the recording'");
}

TEST_F(FileTest, ALinkStaysALinkAndItsTargetIsReplaced) {
  ASSERT_TRUE(replace_file(path_ + "/real", "old"));
  std::filesystem::create_symlink("real", path_ + "/link");
  ASSERT_TRUE(replace_file(path_ + "/link", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(path_ + "/link"));
  EXPECT_EQ(read_file(path_ + "/real").value_or(""), "new");
}

TEST_F(FileTest, ReadRefusesMoreThanItsLimit) {
  const std::string path = path_ + "/file";
  ASSERT_TRUE(replace_file(path, "12345"));
  EXPECT_TRUE(read_file(path, 5));
  EXPECT_EQ(read_file(path, 4).error().kind, ErrorKind::limit);
}

TEST_F(FileTest, ALineEndsBeforeItsEndOrWithTheFile) {
  const std::string path = path_ + "/file";
  for (const auto& [content, line] : {std::pair("one\ntwo\n", "one"), std::pair("one", "one"),
                                      std::pair("\ntwo", ""), std::pair("", "")}) {
    ASSERT_TRUE(replace_file(path, content));
    EXPECT_EQ(read_line(path).value_or("nothing"), line);
  }
  EXPECT_EQ(read_line(path_ + "/none").error().kind, ErrorKind::not_found);
}

TEST_F(FileTest, NamesOfAFolderAreSortedAndWithoutItsLinksToFolders) {
  for (const char* name : {"b", "a", ".hidden", "c"})
    ASSERT_TRUE(replace_file(path_ + "/" + name, ""));
  EXPECT_EQ(*list_directory(path_), (std::vector<std::string>{".hidden", "a", "b", "c"}));
  EXPECT_EQ(list_directory(path_ + "/none").error().what, "list '" + path_ + "/none'");
  EXPECT_FALSE(list_directory(path_ + "/a")) << "a file";
}

TEST(JoinPath, PutsOneSlashBetween) {
  EXPECT_EQ(join_path("/etc", "passwd"), "/etc/passwd");
  EXPECT_EQ(join_path("/etc//", "//passwd"), "/etc/passwd");
  EXPECT_EQ(join_path("", "passwd"), "passwd");
  EXPECT_EQ(join_path("/etc", ""), "/etc");
  EXPECT_EQ(join_path("/", "etc"), "/etc");
}

}  // namespace
}  // namespace loft
