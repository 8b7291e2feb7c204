#include "base/places.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>

#include "base/file.hpp"
#include "base/nameless_file.hpp"
#include "base/temporary_folder.hpp"

namespace loft {
namespace {

// A variable of the environment that gets its old value back.
class Variable {
 public:
  explicit Variable(const char* name) : name_(name) {
    if (const char* value = ::getenv(name)) before_ = value;
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_)
      set(*before_);
    else
      ::unsetenv(name_);
  }
  void set(const std::string& value) const { ::setenv(name_, value.c_str(), 1); }
  void clear() const { ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(SystemRoot, PutsAbsolutePathsBelowATree) {
  EXPECT_EQ(SystemRoot("/tmp/zen3").at("/sys/devices"), "/tmp/zen3/sys/devices");
  EXPECT_EQ(SystemRoot("/tmp/zen3/").at("/sys"), "/tmp/zen3/sys");
  EXPECT_FALSE(SystemRoot("/tmp/zen3").is_live());
  EXPECT_EQ(SystemRoot("/").at("/sys"), "/sys");
  EXPECT_EQ(SystemRoot().at("/sys"), "/sys");
  EXPECT_TRUE(SystemRoot("/").is_live());
}

TEST(Places, OfTheUserFollowXdg) {
  const Variable config("XDG_CONFIG_HOME");
  const Variable cache("XDG_CACHE_HOME");
  const Variable home("HOME");
  config.set("/etc/mine");
  EXPECT_EQ(config_directory(), "/etc/mine/loft");
  config.set("relative");
  home.set("/home/me");
  EXPECT_EQ(config_directory(), "/home/me/.config/loft") << "XDG says to ignore a relative path";
  cache.clear();
  EXPECT_EQ(cache_directory(), "/home/me/.cache/loft");
  home.clear();
  EXPECT_EQ(cache_directory(), "/.cache/loft");
}

TEST(Places, SharedDataCanBeChosen) {
  const Variable share("LOFT_SHARE");
  share.set("/opt/data");
  EXPECT_EQ(share_directory(), "/opt/data");
  share.clear();
  EXPECT_TRUE(file_exists(share_directory() + "/metrics")) << share_directory();
}

class NamelessFile : public TemporaryFolder {};

TEST_F(NamelessFile, LiesInTheFolderForTemporaryFilesAndLeavesNoName) {
  const Variable folder("TMPDIR");
  folder.set(path_);
  const auto fd = temporary_file();
  ASSERT_TRUE(fd);
  ASSERT_TRUE(write_all(*fd, "text", "it"));
  EXPECT_TRUE(list_directory(path_)->empty());
  const std::string through = "/proc/self/fd/" + std::to_string(fd->get());
  EXPECT_EQ(read_file(through).value_or(""), "text");
  const std::string folder_of_it = std::filesystem::canonical(path_).string();
  EXPECT_TRUE(std::filesystem::read_symlink(through).string().starts_with(folder_of_it));
}

TEST_F(NamelessFile, AFolderThatIsNotThereIsAnErrorWithAHint) {
  const Variable folder("TMPDIR");
  folder.set(path_ + "/nowhere");
  const auto fd = temporary_file();
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().hint, "set TMPDIR to a folder with room");
}

TEST_F(NamelessFile, InMemoryIsReadAndWritten) {
  const auto fd = memory_file("answers");
  ASSERT_TRUE(fd);
  ASSERT_TRUE(write_all(*fd, "42", "it"));
  EXPECT_EQ(read_file("/proc/self/fd/" + std::to_string(fd->get())).value_or(""), "42");
}

}  // namespace
}  // namespace loft
