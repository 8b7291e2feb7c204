#include "top/control_socket.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::top {
namespace {

constexpr std::string_view kName = "loft-top-";
constexpr std::string_view kDone = "done";
constexpr std::size_t kMostMessageBytes = 16 << 10;
constexpr int kMostMessages = 16;  // at once: the samples come first

struct Address {
  sockaddr_un text{};
  socklen_t size = 0;
};

// A name of the abstract namespace: it goes with the process, however that ends.
Address address_of(pid_t pid) {
  Address address;
  address.text.sun_family = AF_UNIX;
  const std::string name = fmt::format("{}{}", kName, pid);
  std::memcpy(address.text.sun_path + 1, name.data(), name.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Result<Fd> make_socket(const Address& address) {
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!fd.is_open() || ::setsockopt(fd.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.text), address.size) != 0)
    return failure_of_errno(errno, "make the socket for changes");
  return fd;
}

struct Message {
  std::string text;
  Address from;
  uid_t user = static_cast<uid_t>(-1);
};

// Nothing where none has come.
std::optional<Message> receive(const Fd& fd) {
  Message message;
  message.text.resize(kMostMessageBytes);
  iovec part{message.text.data(), message.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr header{};
  header.msg_name = &message.from.text;
  header.msg_namelen = sizeof message.from.text;
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(fd.get(), &header, MSG_CMSG_CLOEXEC);
  if (got < 0) return std::nullopt;
  message.text.resize(static_cast<std::size_t>(got));
  message.from.size = header.msg_namelen;
  for (cmsghdr* part_of = CMSG_FIRSTHDR(&header); part_of != nullptr;
       part_of = CMSG_NXTHDR(&header, part_of)) {
    if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(part_of), sizeof sender);
    message.user = sender.uid;
  }
  return message;
}

bool is_trusted(const Message& message) { return message.user == 0 || message.user == ::geteuid(); }

Result<pid_t> the_only_monitor() {
  const auto found = listening_monitors();
  if (found.size() == 1) return found.front();
  std::vector<std::string> numbers;
  for (const pid_t pid : found) numbers.push_back(std::to_string(pid));
  return found.empty() ? failure(ErrorKind::not_found, "send the change", "no 'loft top' runs here")
                       : failure(ErrorKind::invalid_input, "send the change",
                                 "several run: " + join(numbers, ", "), "name one with --to");
}

}  // namespace

std::string to_message(const ControlRequest& request) {
  return request.cores + "\n" + request.events;
}

Result<ControlRequest> parse_message(std::string_view message) {
  const auto end = message.find('\n');
  if (end == std::string_view::npos || message.find('\n', end + 1) != std::string_view::npos ||
      end + 1 == message.size())
    return failure(ErrorKind::malformed, "change events", "the message is not understood");
  return ControlRequest{std::string(message.substr(0, end)), std::string(message.substr(end + 1))};
}

Result<ControlSocket> ControlSocket::open() {
  LOFT_TRY(Fd fd, make_socket(address_of(::getpid())));
  return ControlSocket(std::move(fd));
}

void ControlSocket::serve(const std::function<Result<void>(const ControlRequest&)>& apply) const {
  for (int i = 0; i < kMostMessages; ++i) {
    const auto message = receive(fd_);
    if (!message) return;
    if (!is_trusted(*message) || message->from.size <= sizeof(sa_family_t)) continue;
    auto request = parse_message(message->text);
    const Result<void> applied =
        request ? apply(*request) : Result<void>(tl::make_unexpected(request.error()));
    const std::string answer = applied ? std::string(kDone) : to_string(applied.error());
    // A sender that does not wait for its answer gets none.
    (void)::sendto(fd_.get(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&message->from.text), message->from.size);
  }
}

std::vector<pid_t> listening_monitors() {
  std::vector<pid_t> found;
  const auto table = read_file("/proc/net/unix");
  if (!table) return found;
  const std::string name = " @" + std::string(kName);
  for (const std::string_view line : split(*table, '\n')) {
    const auto at = line.find(name);
    if (at == std::string_view::npos) continue;
    const auto pid = parse_u64(line.substr(at + name.size()));
    if (pid && *pid > 0 && *pid < 1u << 30) found.push_back(static_cast<pid_t>(*pid));
  }
  std::ranges::sort(found);
  return found;
}

Result<void> send_request(const ControlRequest& request, std::optional<pid_t> to,
                          std::chrono::milliseconds patience) {
  if (!to) {
    LOFT_TRY(to, the_only_monitor());
  }
  // The kernel chooses a name for an address without one.
  Address own;
  own.text.sun_family = AF_UNIX;
  own.size = sizeof(sa_family_t);
  LOFT_TRY(const Fd fd, make_socket(own));
  const Address other = address_of(*to);
  const std::string message = to_message(request);
  const std::string what = fmt::format("send the change to process {}", *to);
  if (message.size() > kMostMessageBytes) return failure(ErrorKind::limit, what, "it is too long");
  if (::sendto(fd.get(), message.data(), message.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&other.text), other.size) < 0)
    return errno == ECONNREFUSED
               ? failure(ErrorKind::not_found, what, "it is no 'loft top' that runs here")
               : failure_of_errno(errno, what);
  pollfd waiting{fd.get(), POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0)
    return failure(ErrorKind::io, what, "no answer came",
                   "it hears the user that runs it, and root");
  const auto answer = receive(fd);
  if (!answer || !is_trusted(*answer)) return failure(ErrorKind::io, what, "no answer came");
  if (answer->text == kDone) return {};
  return failure(ErrorKind::invalid_input, what, printable(answer->text));
}

}  // namespace loft::top
