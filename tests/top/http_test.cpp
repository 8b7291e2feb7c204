#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "top/http_request.hpp"
#include "top/http_server.hpp"

namespace loft::top {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(HttpRequest, TakesAPathAndWhatIsAccepted) {
  const auto parsed = parse_request(
      "GET /metrics?x=1 HTTP/1.1\r\nHost: localhost:9464\r\nACCEPT:  Text/Plain \r\n\r\n", true);
  ASSERT_TRUE(parsed.is_whole);
  EXPECT_EQ(parsed.status, 200);
  EXPECT_EQ(parsed.request.path, "/metrics");
  EXPECT_EQ(parsed.request.accept, "text/plain");
  EXPECT_FALSE(parse_request("GET / HTTP/1.1\r\nHost: a", true).is_whole);
}

TEST(HttpRequest, RefusesWhatItShould) {
  const auto status = [](const std::string& head) { return parse_request(head, true).status; };
  EXPECT_EQ(status("POST / HTTP/1.1\r\n\r\n"), 405);
  EXPECT_EQ(status("GET /\r\n\r\n"), 400);
  EXPECT_EQ(status("GET http://x/ HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/2\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nno colon\r\n\r\n"), 400);
  EXPECT_EQ(status(std::string("GET /\x01 HTTP/1.1\r\n\r\n")), 400);
  EXPECT_EQ(status("\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: 127.evil.example:9464\r\n\r\n"), 403);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n"), 403);
  for (const char* host : {"127.0.0.1:9464", "127.1.2.3", "LOCALHOST", "[::1]:9464"})
    EXPECT_EQ(status(std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n"), 200) << host;
  EXPECT_EQ(parse_request("GET / HTTP/1.1\r\nHost: node7\r\n\r\n", false).status, 200);
  EXPECT_EQ(status("GET /" + std::string(2000, 'a') + " HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n" + std::string(kMostHead, 'a')), 431);
}

TEST(ListenAddress, IsANumberWithAPort) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:9464")->port, 9464);
  EXPECT_TRUE(parse_listen_address("localhost:1")->is_loopback());
  EXPECT_TRUE(parse_listen_address("[::1]:1")->is_loopback());
  EXPECT_FALSE(parse_listen_address("0.0.0.0:1")->is_loopback());
  for (const char* bad : {"", "9464", "127.0.0.1", "127.0.0.1:99999", "example.org:80", ":1"})
    EXPECT_FALSE(parse_listen_address(bad)) << bad;
}

class HttpServerTest : public testing::Test {
 protected:
  void start(HttpLimits limits = {}) {
    auto server = HttpServer::listen(
        {"127.0.0.1", 0},
        [](const HttpRequest& request) {
          HttpResponse response;
          response.is_stream = request.path == "/events";
          if (!response.is_stream)
            response.body = std::make_shared<std::string>("seen " + request.path);
          return response;
        },
        limits);
    ASSERT_TRUE(server) << to_string(server.error());
    server_.emplace(*std::move(server));
  }

  Fd connect() {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->port());
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  static void send(const Fd& fd, std::string_view text) {
    EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  // Serves until `fd` has something to read or has been closed, and reads that.
  std::string receive(const Fd& fd) {
    pollfd both[2] = {{fd.get(), POLLIN, 0}, {server_->fd(), POLLIN, 0}};
    while (::poll(both, 2, -1) >= 0 && both[0].revents == 0) server_->serve();
    char bytes[4096];
    const ssize_t got = ::recv(fd.get(), bytes, sizeof bytes, 0);
    return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : "";
  }

  std::optional<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersARequestThatComesInPieces) {
  start();
  const Fd fd = connect();
  send(fd, "GET /a HT");
  server_->serve();
  send(fd, "TP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  const std::string answer = receive(fd);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\nseen /a"));
  EXPECT_EQ(receive(fd), "");  // closed
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(HttpServerTest, RefusesWithWordsAndGoesOn) {
  start();
  const Fd bad = connect();
  send(bad, "DELETE / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(receive(bad), testing::AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: GET")));
  const Fd good = connect();
  send(good, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(receive(good), HasSubstr("seen /"));
}

TEST_F(HttpServerTest, StreamGetsEventsUntilItFallsBehind) {
  start({.unsent = 64 << 10});
  const Fd fd = connect();
  send(fd, "GET /events HTTP/1.1\r\n\r\n");
  EXPECT_THAT(receive(fd), HasSubstr("\r\n\r\n"));
  server_->send_event("{\"a\":1}\n");
  EXPECT_EQ(receive(fd), "data: {\"a\":1}\n\n");
  const std::string large(32 << 10, 'x');  // which nobody reads
  for (int i = 0; i < 1000 && server_->connections() > 0; ++i) server_->send_event(large);
  EXPECT_EQ(server_->connections(), 0u);
  EXPECT_EQ(server_->turned_away(), 1u);
}

TEST_F(HttpServerTest, ClientsThatAreTooManyOrTooSlowAreEnded) {
  start({.connections = 2, .patience = std::chrono::milliseconds(1)});
  const Fd first = connect();
  const Fd second = connect();
  const Fd third = connect();
  EXPECT_EQ(receive(third), "");  // there is no place for it
  EXPECT_EQ(receive(first), "");  // it said nothing for too long
  EXPECT_EQ(receive(second), "");
  EXPECT_EQ(server_->connections(), 0u);
  EXPECT_EQ(server_->turned_away(), 3u);
}

}  // namespace
}  // namespace loft::top
