// A small server for pages that can only be read, made to run beside something more important: it
// never waits, does a bounded amount of work each time it is called, and ends clients that are
// slow.
//
//   LOFT_TRY(auto server, HttpServer::listen(address, answer));
//   poll(server.fd());         // readable when there is something to do
//   server.serve();
//   server.send_event(text);   // to everybody who asked for a stream
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "top/http_request.hpp"

namespace loft::top {

struct ListenAddress {
  std::string host;  // a number: "127.0.0.1", "::1"
  std::uint16_t port = 0;

  [[nodiscard]] bool is_loopback() const;
};

// "127.0.0.1:9464", "[::1]:9464", "localhost:0".
[[nodiscard]] Result<ListenAddress> parse_listen_address(std::string_view text);

struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;
  bool is_stream = false;  // goes on with events until the client leaves
};

struct HttpLimits {
  std::size_t connections = 64;
  std::size_t unsent = 1 << 20;                    // bytes that a client may be behind
  Nanoseconds patience = std::chrono::seconds(5);  // for a request, and for each step onward
};

class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  [[nodiscard]] static Result<HttpServer> listen(const ListenAddress& address, Handler handler,
                                                 HttpLimits limits = {});

  [[nodiscard]] int fd() const { return poll_.get(); }
  [[nodiscard]] std::uint16_t port() const { return port_; }

  void serve();
  void send_event(std::string_view data);

  [[nodiscard]] std::size_t connections() const { return clients_.size(); }
  // Requests that were answered, refused, and clients that were too many or too slow.
  [[nodiscard]] std::uint64_t answered() const { return answered_; }
  [[nodiscard]] std::uint64_t turned_away() const { return turned_away_; }

 private:
  struct Client {
    Fd fd;
    std::string head;
    std::string out;
    std::size_t sent = 0;
    Nanoseconds deadline{};
    bool is_writing = false;
    bool is_stream = false;
  };

  HttpServer() = default;
  void accept_some(Nanoseconds at);
  void end_slow_ones(Nanoseconds at);
  // Each says whether the client stays.
  [[nodiscard]] bool advance(Client& client, std::uint32_t events, Nanoseconds at);
  [[nodiscard]] bool read_some(Client& client, Nanoseconds at);
  [[nodiscard]] bool write_some(Client& client, Nanoseconds at);
  void answer(Client& client, const ParsedRequest& parsed, Nanoseconds at);
  void wait_for(const Client& client, std::uint32_t events);

  Fd poll_;
  Fd listener_;
  Fd timer_;
  std::uint16_t port_ = 0;
  bool loopback_alone_ = true;
  Handler handler_;
  HttpLimits limits_;
  std::map<int, Client> clients_;
  std::uint64_t answered_ = 0;
  std::uint64_t turned_away_ = 0;
};

}  // namespace loft::top
