#include "top/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "source/supervisor.hpp"

namespace loft::top {
namespace {

constexpr int kMostEventsAtOnce = 32;
constexpr int kMostAcceptedAtOnce = 16;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

std::optional<SocketAddress> numeric_address(const ListenAddress& address) {
  SocketAddress found;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&found.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&found.storage);
  if (::inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    found.size = sizeof *v4;
  } else if (::inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    found.size = sizeof *v6;
  } else {
    return std::nullopt;
  }
  return found;
}

std::uint16_t port_of(const Fd& listener) {
  SocketAddress own;
  own.size = sizeof own.storage;
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&own.storage), &own.size) != 0)
    return 0;
  return ntohs(own.storage.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in*>(&own.storage)->sin_port
                   : reinterpret_cast<const sockaddr_in6*>(&own.storage)->sin6_port);
}

std::string head_of(const HttpResponse& response) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nConnection: close\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\n",
      response.status, status_text(response.status), response.type);
  if (response.status == 405) head += "Allow: GET\r\n";
  if (!response.is_stream)
    head += fmt::format("Content-Length: {}\r\n", response.body ? response.body->size() : 0);
  return head + "\r\n";
}

}  // namespace

bool ListenAddress::is_loopback() const { return host.starts_with("127.") || host == "::1"; }

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  const std::string what = "listen on '" + std::string(text) + "'";
  const auto port =
      colon == std::string_view::npos ? std::nullopt : parse_u64(text.substr(colon + 1));
  if (!port || *port > 65535)
    return failure(ErrorKind::invalid_input, what, "ADDRESS:PORT was expected",
                   "such as 127.0.0.1:9464");
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  ListenAddress address{host == "localhost" ? "127.0.0.1" : std::string(host),
                        static_cast<std::uint16_t>(*port)};
  if (!numeric_address(address))
    return failure(ErrorKind::invalid_input, what, "the address is no number of an interface",
                   "such as 127.0.0.1:9464");
  return address;
}

Result<HttpServer> HttpServer::listen(const ListenAddress& address, Handler handler,
                                      HttpLimits limits) {
  const std::string what = fmt::format("listen on {} port {}", address.host, address.port);
  const auto where = numeric_address(address);
  if (!where) return failure(ErrorKind::invalid_input, what, "the address is no number");
  HttpServer server;
  server.handler_ = std::move(handler);
  server.limits_ = limits;
  server.loopback_alone_ = address.is_loopback();
  server.listener_ =
      Fd(::socket(where->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!server.listener_.is_open() ||
      ::setsockopt(server.listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(server.listener_.get(), reinterpret_cast<const sockaddr*>(&where->storage),
             where->size) != 0 ||
      ::listen(server.listener_.get(), 64) != 0)
    return failure_of_errno(errno, what,
                            errno == EADDRINUSE ? "another program listens there" : "");
  server.port_ = port_of(server.listener_);
  LOFT_TRY(server.timer_, source::make_timer());
  server.poll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  for (const Fd* fd : {&server.listener_, &server.timer_}) {
    epoll_event event{EPOLLIN, {.fd = fd->get()}};
    if (!server.poll_.is_open() ||
        ::epoll_ctl(server.poll_.get(), EPOLL_CTL_ADD, fd->get(), &event) != 0)
      return failure_of_errno(errno, what);
  }
  return server;
}

void HttpServer::serve() {
  std::array<epoll_event, kMostEventsAtOnce> events{};
  const int count = ::epoll_wait(poll_.get(), events.data(), kMostEventsAtOnce, 0);
  const Nanoseconds at = now();
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    if (fd == listener_.get()) {
      accept_some(at);
    } else if (fd == timer_.get()) {
      (void)source::take_expirations(timer_);
      end_slow_ones(at);
    } else if (const auto found = clients_.find(fd); found != clients_.end()) {
      if (!advance(found->second, events[static_cast<std::size_t>(i)].events, at))
        clients_.erase(found);
    }
  }
}

void HttpServer::accept_some(Nanoseconds at) {
  for (int i = 0; i < kMostAcceptedAtOnce; ++i) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.is_open()) return;
    if (clients_.size() >= limits_.connections) {
      ++turned_away_;  // closed at once
      continue;
    }
    const int number = fd.get();
    epoll_event event{EPOLLIN, {.fd = number}};
    if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, number, &event) != 0) continue;
    if (clients_.empty()) (void)source::set_timer(timer_, limits_.patience, limits_.patience);
    Client& client = clients_[number];
    client.fd = std::move(fd);
    client.deadline = at + limits_.patience;
  }
}

void HttpServer::end_slow_ones(Nanoseconds at) {
  turned_away_ += std::erase_if(clients_, [&](const auto& entry) {
    const Client& client = entry.second;
    const bool waits_for_us = client.is_stream && !client.is_writing;
    return !waits_for_us && at > client.deadline;
  });
  if (clients_.empty()) (void)source::set_timer(timer_, Nanoseconds(0), Nanoseconds(0));
}

void HttpServer::wait_for(const Client& client, std::uint32_t events) {
  epoll_event event{events, {.fd = client.fd.get()}};
  (void)::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, client.fd.get(), &event);
}

bool HttpServer::advance(Client& client, std::uint32_t events, Nanoseconds at) {
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return false;
  if ((events & EPOLLIN) != 0 && !read_some(client, at)) return false;
  return !client.is_writing || (events & EPOLLOUT) == 0 || write_some(client, at);
}

bool HttpServer::read_some(Client& client, Nanoseconds at) {
  std::array<char, 4096> bytes;
  const ssize_t got = ::recv(client.fd.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  // Behind its request a client has nothing to say: who goes on talking would only keep us busy.
  if (got == 0 || client.is_stream) return false;
  client.head.append(bytes.data(), static_cast<std::size_t>(got));
  const ParsedRequest parsed = parse_request(client.head, loopback_alone_);
  if (!parsed.is_whole) return true;
  answer(client, parsed, at);
  return write_some(client, at);
}

void HttpServer::answer(Client& client, const ParsedRequest& parsed, Nanoseconds at) {
  HttpResponse response;
  if (parsed.status == 200) {
    response = handler_(parsed.request);
  } else {
    response.status = parsed.status;
    response.body = std::make_shared<std::string>(std::string(status_text(parsed.status)) + "\n");
  }
  ++answered_;
  client.head.clear();
  client.is_stream = response.is_stream;
  client.out = head_of(response);
  if (response.body) client.out += *response.body;
  client.is_writing = true;
  client.deadline = at + limits_.patience;
}

bool HttpServer::write_some(Client& client, Nanoseconds at) {
  while (client.sent < client.out.size()) {
    const ssize_t sent = ::send(client.fd.get(), client.out.data() + client.sent,
                                client.out.size() - client.sent, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent < 0) {
      wait_for(client, client.is_stream ? EPOLLIN | EPOLLOUT : EPOLLOUT);
      return true;
    }
    client.sent += static_cast<std::size_t>(sent);
    client.deadline = at + limits_.patience;
  }
  client.out.clear();
  client.sent = 0;
  client.is_writing = false;
  if (!client.is_stream) return false;
  wait_for(client, EPOLLIN);
  return true;
}

void HttpServer::send_event(std::string_view data) {
  const Nanoseconds at = now();
  const std::string event = "data: " + std::string(trim(data)) + "\n\n";
  for (auto next = clients_.begin(); next != clients_.end();) {
    const auto entry = next++;
    Client& client = entry->second;
    if (!client.is_stream) continue;
    if (client.out.size() - client.sent + event.size() > limits_.unsent) {
      ++turned_away_;
      clients_.erase(entry);
      continue;
    }
    if (!client.is_writing) client.deadline = at + limits_.patience;
    client.out.erase(0, std::exchange(client.sent, 0));
    client.out += event;
    client.is_writing = true;
    if (!write_some(client, at)) clients_.erase(entry);
  }
}

}  // namespace loft::top
