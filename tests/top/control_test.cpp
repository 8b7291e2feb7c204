#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <thread>

#include "base/file.hpp"
#include "top/control_files.hpp"
#include "top/control_socket.hpp"

namespace loft::top {
namespace {

using testing::HasSubstr;

class ControlFilesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }
  std::string folder_ = "/tmp/loft-control-XXXXXX";
};

TEST_F(ControlFilesTest, FileOfEachCoreIsReadWhenItChanges) {
  const std::string inner = folder_ + "/events";
  {
    auto files = ControlFiles::open(inner, {0, 2}, "cycles");
    ASSERT_TRUE(files) << to_string(files.error());
    EXPECT_THAT(read_file(inner + "/cpu2").value_or(""), HasSubstr("cycles\n"));
    EXPECT_TRUE(files->changed().empty());
    ASSERT_TRUE(replace_file(inner + "/cpu2", "# mine\ninstructions,\n  page-faults # all\n\n"));
    const auto changes = files->changed();
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].cpu, 2);
    EXPECT_EQ(changes[0].events, "instructions,page-faults");
    EXPECT_TRUE(files->changed().empty());  // once
    ASSERT_TRUE(replace_file(inner + "/cpu0", "# nothing\n"));
    const auto refused = files->changed();
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_FALSE(refused[0].events);
  }
  EXPECT_FALSE(file_exists(inner));  // what was made is gone
}

TEST_F(ControlFilesTest, FilesOfTheUserAreReadAndStay) {
  ASSERT_TRUE(replace_file(folder_ + "/cpu1", "branches\n"));
  {
    auto files = ControlFiles::open(folder_, {1}, "cycles");
    ASSERT_TRUE(files);
    const auto changes = files->changed();
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].events, "branches");
  }
  EXPECT_EQ(read_file(folder_ + "/cpu1").value_or(""), "branches\n");
}

TEST_F(ControlFilesTest, HugeFileIsRefused) {
  ASSERT_TRUE(replace_file(folder_ + "/cpu1", std::string(1 << 20, 'x')));
  auto files = ControlFiles::open(folder_, {1}, "cycles");
  ASSERT_TRUE(files);
  EXPECT_FALSE(files->changed().at(0).events);
}

TEST(ControlSocket, ChangeArrivesAndItsAnswerReturns) {
  auto socket = ControlSocket::open();
  ASSERT_TRUE(socket) << to_string(socket.error());
  EXPECT_THAT(listening_monitors(), testing::Contains(::getpid()));
  std::vector<ControlRequest> heard;
  std::atomic<int> sent{0};
  std::thread server([&] {
    pollfd waiting{socket->fd(), POLLIN, 0};
    while (sent < 2 && ::poll(&waiting, 1, -1) > 0)
      socket->serve([&](const ControlRequest& request) -> Result<void> {
        heard.push_back(request);
        ++sent;
        if (request.events == "nonsense")
          return failure(ErrorKind::invalid_input, "count 'nonsense'", "nobody knows it");
        return {};
      });
  });
  const auto done = send_request({"0-3", "cycles,IPC"}, ::getpid());
  const auto refused = send_request({"", "nonsense"}, ::getpid());
  server.join();
  EXPECT_TRUE(done) << to_string(done.error());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().why, HasSubstr("nobody knows it"));
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].cores, "0-3");
  EXPECT_EQ(heard[0].events, "cycles,IPC");
}

TEST(ControlSocket, NobodyThereIsAnError) {
  const auto sent = send_request({"", "cycles"}, 1);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind, ErrorKind::not_found);
}

TEST(ControlSocket, MessagesThatAreNoneAreRefused) {
  EXPECT_EQ(parse_message(to_message({"1", "cycles"}))->events, "cycles");
  for (const char* bad : {"", "cycles", "1\n", "1\ncycles\nmore"})
    EXPECT_FALSE(parse_message(bad)) << bad;
}

}  // namespace
}  // namespace loft::top
