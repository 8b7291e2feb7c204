#include "base/file_replacement.hpp"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.hpp"
#include "base/temporary_folder.hpp"

namespace loft {
namespace {

class FileReplacementTest : public TemporaryFolder {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }
  void make(const std::string& name, const std::string& text, mode_t mode) const {
    ASSERT_TRUE(replace_file(at(name), text));
    ASSERT_EQ(::chmod(at(name).c_str(), mode), 0);
  }
  [[nodiscard]] struct stat status_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat(at(name).c_str(), &status), 0);
    return status;
  }
  [[nodiscard]] mode_t mode_of(const std::string& name) const {
    return status_of(name).st_mode & 07777;
  }
};

TEST_F(FileReplacementTest, TheOldFileStaysUntilCommit) {
  make("file", "old", 0644);
  auto file = FileReplacement::of(at("file"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("new"));
  EXPECT_EQ(*read_file(at("file")), "old");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(*read_file(at("file")), "new");
  EXPECT_EQ(list_directory(path_)->size(), 1u);
}

TEST_F(FileReplacementTest, DroppedBeforeCommitLeavesNoTrace) {
  make("file", "old", 0644);
  {
    auto first = FileReplacement::of(at("file"));
    ASSERT_TRUE(first && first->write("half"));
    const FileReplacement moved = *std::move(first);
  }
  EXPECT_EQ(*read_file(at("file")), "old");
  EXPECT_EQ(list_directory(path_)->size(), 1u);
}

TEST_F(FileReplacementTest, AWriterThatIsKilledLeavesNoTrace) {
  if (!Fd(::open(at("").c_str(), O_RDWR | O_TMPFILE, 0600)).is_open())
    GTEST_SKIP() << "this file system has no files without names";
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = FileReplacement::of(at("file"));
    if (!file || !file->write("half of it")) ::_exit(1);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::is_empty(at("")));
}

// Whoever may write to the folder could guess a name made of the process id and put a link there.
TEST_F(FileReplacementTest, ALinkUnderAPredictableNameIsNotFollowed) {
  make("victim", "precious", 0644);
  const std::string guessed = "file.new-" + std::to_string(::getpid());
  std::filesystem::create_symlink("victim", at(guessed));
  ASSERT_TRUE(replace_file(at("file"), "text"));
  EXPECT_EQ(*read_file(at("victim")), "precious");
  EXPECT_EQ(*read_file(at("file")), "text");
  EXPECT_TRUE(std::filesystem::is_symlink(at(guessed)));
}

TEST_F(FileReplacementTest, TwoAtOnceDoNotMeet) {
  auto one = FileReplacement::of(at("file"));
  auto two = FileReplacement::of(at("file"));
  ASSERT_TRUE(one && two);
  ASSERT_TRUE(one->write("one"));
  ASSERT_TRUE(two->write("two"));
  ASSERT_TRUE(two->commit());
  ASSERT_TRUE(one->commit());
  EXPECT_EQ(*read_file(at("file")), "one");
}

TEST_F(FileReplacementTest, KeepsTheModeOfWhatItReplaces) {
  make("file", "secret", 0600);
  ASSERT_TRUE(replace_file(at("file"), "new secret"));
  EXPECT_EQ(mode_of("file"), 0600u);
  make("shared", "text", 0664);
  ASSERT_TRUE(replace_file(at("shared"), "new text"));
  EXPECT_EQ(mode_of("shared"), 0664u);
}

TEST_F(FileReplacementTest, DropsTheSetUserIdBit) {
  make("file", "program", 04755);
  ASSERT_TRUE(replace_file(at("file"), "text"));
  EXPECT_EQ(mode_of("file"), 0755u);
}

TEST_F(FileReplacementTest, ANewFileGetsTheModeAskedForLessTheUmask) {
  const mode_t before = ::umask(027);
  const bool made = replace_file(at("file"), "text").has_value();
  auto recording = FileReplacement::of(at("recording"), FileReplacement::kForOwnerOnly);
  ::umask(before);
  ASSERT_TRUE(made && recording && recording->commit());
  EXPECT_EQ(mode_of("file"), 0640u);
  EXPECT_EQ(mode_of("recording"), 0600u);
}

TEST_F(FileReplacementTest, KeepsTheOwnerWhenRootReplacesAFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  make("file", "secret", 0600);
  ASSERT_EQ(::chown(at("file").c_str(), 1234, 2345), 0);
  ASSERT_TRUE(replace_file(at("file"), "new"));
  EXPECT_EQ(status_of("file").st_uid, 1234u);
  EXPECT_EQ(status_of("file").st_gid, 2345u);
  EXPECT_EQ(mode_of("file"), 0600u);
}

// The members of a group that is ours, not the file's, must not get to read it.
TEST_F(FileReplacementTest, AGroupThatCannotBeKeptLosesItsRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  make("file", "secret", 0664);
  ASSERT_EQ(::chown(at("file").c_str(), 1234, 2345), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0777), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    ::_exit(replace_file(at("file"), "new") ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(status_of("file").st_uid, 65534u);
  EXPECT_EQ(mode_of("file"), 0644u) << "the group may write no longer";
}

TEST_F(FileReplacementTest, AnErrorNamesTheFileThatWasAskedFor) {
  const auto file = FileReplacement::of(at("no/such/folder"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().what, "create '" + at("no/such/folder") + "'");
  EXPECT_EQ(file.error().kind, ErrorKind::not_found);
}

TEST_F(FileReplacementTest, AFullDiskIsAnErrorAndNothingIsReplaced) {
  auto full = FileReplacement::of("/dev/full");
  ASSERT_TRUE(full);
  const auto written = full->write("text");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().why.find("ENOSPC"), std::string::npos);
}

TEST_F(FileReplacementTest, WhatStoodThereIsKeptBesideAndComesBackWhenWithdrawn) {
  make("file", "old", 0644);
  auto file = FileReplacement::of(at("file"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("new"));
  ASSERT_TRUE(file->commit_keeping_old());
  EXPECT_EQ(*read_file(at("file")), "new");
  EXPECT_EQ(*read_file(at("file.old")), "old");
  ASSERT_TRUE(file->write(" and more")) << "it may be written further";
  EXPECT_EQ(*read_file(at("file")), "new and more");
  file->withdraw();
  EXPECT_EQ(*read_file(at("file")), "old");
  EXPECT_FALSE(file_exists(at("file.old")));
}

TEST_F(FileReplacementTest, AnEmptyFileIsNotKept) {
  make("file", "", 0644);
  make("file.old", "older", 0644);
  auto file = FileReplacement::of(at("file"));
  ASSERT_TRUE(file && file->commit_keeping_old());
  EXPECT_EQ(*read_file(at("file.old")), "older");
}

TEST_F(FileReplacementTest, ALinkIsFollowedAndWhatItLedToIsKeptThere) {
  make("real", "old", 0644);
  std::filesystem::create_symlink("real", at("link"));
  auto file = FileReplacement::of(at("link"));
  ASSERT_TRUE(file && file->write("new") && file->commit_keeping_old());
  EXPECT_TRUE(std::filesystem::is_symlink(at("link")));
  EXPECT_EQ(*read_file(at("real")), "new");
  EXPECT_EQ(*read_file(at("real.old")), "old");
}

TEST_F(FileReplacementTest, WithdrawnBeforeItIsInPlaceItLeavesNoTrace) {
  make("file", "old", 0644);
  auto file = FileReplacement::of(at("file"));
  ASSERT_TRUE(file && file->write("new"));
  file->withdraw();
  file->withdraw();
  EXPECT_EQ(*read_file(at("file")), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_), {}), 1);
}

}  // namespace
}  // namespace loft
