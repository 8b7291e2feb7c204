// How `loft top --send` reaches a running `loft top`: one datagram there, one back, over a socket
// that has no file. Only the same user and root are heard.
//
//   LOFT_TRY(auto socket, ControlSocket::open());
//   socket.serve([&](const ControlRequest& request) { return apply(request); });
//
//   LOFT_CHECK(send_request({.cores = "3", .events = "cycles"}, pid));     // in another process
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft::top {

struct ControlRequest {
  std::string cores;  // "0-3,8"; empty for all
  std::string events;
};

// The message and what it says; an error where it is none.
[[nodiscard]] std::string to_message(const ControlRequest& request);
[[nodiscard]] Result<ControlRequest> parse_message(std::string_view message);

class ControlSocket {
 public:
  // Under the number of this process.
  [[nodiscard]] static Result<ControlSocket> open();

  [[nodiscard]] int fd() const { return fd_.get(); }

  // Answers what has come, a bounded number of messages. Nothing here waits.
  void serve(const std::function<Result<void>(const ControlRequest&)>& apply) const;

 private:
  explicit ControlSocket(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

// Processes that listen, in this network namespace.
[[nodiscard]] std::vector<pid_t> listening_monitors();

// To the process `to`, or to the only one that listens. The error is the other side's.
[[nodiscard]] Result<void> send_request(
    const ControlRequest& request, std::optional<pid_t> to,
    std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace loft::top
