#include "top/reader.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <cerrno>
#include <functional>
#include <system_error>

#include "base/cpu_set.hpp"

namespace loft::top {
namespace {

constexpr int kHighestPriority = -20;

bool take_wake(const Fd& wake) {
  std::uint64_t times = 0;
  while (::read(wake.get(), &times, sizeof times) != sizeof times)
    if (errno != EINTR) return false;
  return true;
}

// Whoever is not told waits for ever: a failure that passes must not be the last word.
void tell(int fd) {
  constexpr int kMostTries = 100;
  const std::uint64_t once = 1;
  for (int i = 0; i < kMostTries && ::write(fd, &once, sizeof once) != sizeof once; ++i) {
  }
}

// Threads of loft leave signals to the one that waits for them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

// Of this thread alone, and only where loft may: without it, readings come late on a busy machine.
void ask_for_priority() { (void)::setpriority(PRIO_PROCESS, 0, kHighestPriority); }

Result<std::unique_ptr<Gate>> Gate::make() {
  Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.is_open()) return failure_of_errno(errno, "wait for readers");
  return std::unique_ptr<Gate>(new Gate(std::move(fd)));
}

void Gate::close_request() {
  if (open_.fetch_sub(1, std::memory_order_acq_rel) == 1) tell(fd_.get());
}

void Gate::take() const { (void)take_wake(fd_); }

// The monitor writes while no request is open, the reader while one is; `asked` and `answered` hand
// it over.
struct CoreReader::Shared {
  int cpu = -1;
  Gate* gate = nullptr;
  Fd wake;
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> answered{0};
  std::atomic<bool> is_over{false};
  CoreCounters* current = nullptr;
  std::size_t count = 0;
  CoreCounters* next = nullptr;
  std::size_t next_count = 0;
  Report report;
};

CoreReader::CoreReader(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}

CoreReader::CoreReader(CoreReader&&) noexcept = default;

Result<CoreReader> CoreReader::start(int cpu, Gate& gate) {
  auto shared = std::make_unique<Shared>();
  shared->cpu = cpu;
  shared->gate = &gate;
  shared->wake = Fd(::eventfd(0, EFD_CLOEXEC));
  if (!shared->wake.is_open()) return failure_of_errno(errno, fmt::format("watch CPU {}", cpu));
  shared->report.readings.reserve(kMostEvents);
  CoreReader reader(std::move(shared));
  const SignalsBlocked blocked;
  try {
    reader.thread_ = std::thread(read_until_over, std::ref(*reader.shared_));
  } catch (const std::system_error& error) {
    return failure_of_errno(error.code().value(), fmt::format("watch CPU {}", cpu));
  }
  return reader;
}

void CoreReader::read_until_over(Shared& shared) {
  // Where that fails the core is off; every report says where the reader ran.
  (void)set_allowed_cpus(0, {shared.cpu});
  ask_for_priority();
  while (take_wake(shared.wake) && !shared.is_over.load()) serve(shared);
}

CoreReader::~CoreReader() {
  if (!thread_.joinable()) return;
  shared_->is_over = true;
  tell(shared_->wake.get());
  thread_.join();
  if (is_asked()) shared_->gate->close_request();  // nobody will answer it
}

void CoreReader::use(CoreCounters* counters, std::size_t count) {
  shared_->next = counters;
  shared_->next_count = count;
}

void CoreReader::ask() {
  shared_->report.asked = now();
  shared_->gate->open_request();
  shared_->asked.store(shared_->asked.load() + 1, std::memory_order_release);
  tell(shared_->wake.get());
}

bool CoreReader::is_asked() const { return shared_->asked.load() != shared_->answered.load(); }

const Report* CoreReader::answer() const {
  const bool has_come = shared_->answered.load(std::memory_order_acquire) == shared_->asked.load();
  return has_come ? &shared_->report : nullptr;
}

void CoreReader::serve(Shared& shared) {
  const std::uint64_t request = shared.asked.load(std::memory_order_acquire);
  Report& report = shared.report;
  report.readings.assign(shared.count, RawReading{});
  report.has_changed = false;
  const Nanoseconds before = now();
  if (shared.next != nullptr) {
    if (shared.current != nullptr) shared.current->stop();
    report.has_changed = shared.next->start();
    if (!report.has_changed && shared.current != nullptr) shared.current->start();
  }
  report.is_read = shared.current == nullptr || shared.current->read(report.readings);
  report.at = before + (now() - before) / 2;
  report.cpu = ::sched_getcpu();
  if (report.has_changed) {
    shared.current = shared.next;
    shared.count = shared.next_count;
  }
  shared.next = nullptr;
  shared.answered.store(request, std::memory_order_release);
  shared.gate->close_request();
}

}  // namespace loft::top
