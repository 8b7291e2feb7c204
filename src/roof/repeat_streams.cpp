#include "roof/repeat_streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <memory>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/nameless_file.hpp"

namespace loft::roof {
namespace {

Result<void> copy_all(int from, int to) {
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got == 0) return {};
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure_of_errno(errno, "read the program's input");
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0) return failure_of_errno(errno, "keep the program's input for its second run");
      done += put;
    }
  }
}

bool is_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

bool is_pipe(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

// Whether somebody writes to a pipe, or has closed it. One that stays open and silent, as under ssh
// or in a container, would be waited for without end.
bool has_input(int pipe) {
  constexpr int kPatience = 1000;  // milliseconds
  pollfd polled{pipe, POLLIN, 0};
  return ::poll(&polled, 1, kPatience) > 0;
}

constexpr const char* kTyped = "what was typed in the first run was not there in the second";

// The kernel tells of every read from the terminal that brought something.
Fd watch_typing() {
  Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (watch.is_open() && ::inotify_add_watch(watch.get(), "/proc/self/fd/0", IN_ACCESS) < 0)
    return Fd();
  return watch;
}

bool was_read(const Fd& watch) {
  pollfd polled{watch.get(), POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0;
}

bool same_bytes(int a, long long start_a, int b, long long size) {
  std::array<char, 65536> of_a{};
  std::array<char, 65536> of_b{};
  for (long long done = 0; done < size;) {
    const auto want = static_cast<std::size_t>(std::min<long long>(size - done, of_a.size()));
    const ssize_t got_a = ::pread(a, of_a.data(), want, start_a + done);
    const ssize_t got_b = ::pread(b, of_b.data(), want, done);
    if (got_a <= 0 || got_a != got_b) return false;
    const auto count = static_cast<std::size_t>(got_a);
    if (!std::equal(of_a.begin(), of_a.begin() + static_cast<std::ptrdiff_t>(count), of_b.begin()))
      return false;
    done += got_a;
  }
  return true;
}

}  // namespace

Result<RepeatStreams> RepeatStreams::prepare() {
  RepeatStreams streams;
  if (is_file(STDIN_FILENO)) {
    streams.rewind_own_ = true;
    streams.input_start_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  } else if (is_pipe(STDIN_FILENO) && !has_input(STDIN_FILENO)) {
    streams.has_none_ = true;
    streams.note_ =
        "its standard input was open and empty when it started: what came later was not there in "
        "the second run";
  } else if (is_pipe(STDIN_FILENO)) {
    LOFT_TRY(streams.input_, memory_file("input"));
    LOFT_CHECK(copy_all(STDIN_FILENO, streams.input_.get()));
    if (::lseek(streams.input_.get(), 0, SEEK_SET) != 0)
      return failure_of_errno(errno, "rewind the program's input");
  } else if (::isatty(STDIN_FILENO) == 1) {
    streams.has_none_ = true;
    streams.typing_ = watch_typing();
    if (!streams.typing_.is_open()) streams.note_ = kTyped;
  }
  if (is_file(STDOUT_FILENO)) streams.output_start_ = ::lseek(STDOUT_FILENO, 0, SEEK_END);
  return streams;
}

Result<StandardStreams> RepeatStreams::second() {
  if (output_start_) output_end_ = ::lseek(STDOUT_FILENO, 0, SEEK_END);
  LOFT_TRY(output_, memory_file("output"));
  LOFT_TRY(errors_, memory_file("errors"));
  const int own = rewind_own_ ? STDIN_FILENO : input_.get();
  if (own >= 0 && ::lseek(own, rewind_own_ ? input_start_ : 0, SEEK_SET) < 0)
    return failure_of_errno(errno, "rewind the program's input");
  if (typing_.is_open() && was_read(typing_)) note_ = kTyped;
  if (has_none_) input_ = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return StandardStreams{input_.get(), output_.get(), errors_.get()};
}

std::optional<std::string> RepeatStreams::difference() const {
  if (!output_start_) return std::nullopt;
  const Fd first(::open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC));
  if (!first.is_open()) return std::nullopt;
  const long long first_size = output_end_ - *output_start_;
  const long long second_size = ::lseek(output_.get(), 0, SEEK_END);
  if (first_size != second_size)
    return fmt::format("it wrote {} bytes natively and {} bytes under the virtual PMU", first_size,
                       second_size);
  if (!same_bytes(first.get(), *output_start_, output_.get(), first_size))
    return "what it wrote under the virtual PMU differs from what it wrote natively";
  return std::nullopt;
}

std::string RepeatStreams::last_words() const {
  constexpr long long kMost = 2000;
  const long long size = ::lseek(errors_.get(), 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::min(size, kMost)), '\0');
  const ssize_t got = ::pread(errors_.get(), text.data(), text.size(), std::max(0LL, size - kMost));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::function<Result<StandardStreams>(bool is_first)> streams_of_two_runs() {
  auto streams = std::make_shared<std::optional<RepeatStreams>>();
  return [streams](bool is_first) -> Result<StandardStreams> {
    if (!is_first) return (*streams)->second();
    LOFT_TRY(*streams, RepeatStreams::prepare());
    return (*streams)->first();
  };
}

bool was_ended(int status) {
  constexpr std::array kAsking{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
  return std::ranges::any_of(kAsking, [&](int signal) { return status == 128 + signal; });
}

}  // namespace loft::roof
