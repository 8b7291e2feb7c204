// Programs to be recorded, each of which does one thing a lot.
//   load busy THREADS MILLISECONDS     each thread computes for so long
//   load switches PAIRS SECONDS        pairs of threads hand a byte to and fro, as fast as they can
//   load threads COUNT                 so many threads, all alive at the same time
//   load processes COUNT SECONDS       short processes, evenly spread over the time
//   load timed COMMAND...              runs it and prints the CPU time that it took, in
//   microseconds
// Prints what it did: hand-overs for `switches`, milliseconds of the whole for `busy`.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

void compute(long rounds) {
  volatile double value = 1;
  for (long i = 0; i < rounds; ++i) value = value * 1.0000001;
}

// The work is fixed before, so that a slower run takes longer instead of doing less.
int busy(int threads, double milliseconds) {
  constexpr double kRoundsPerMillisecond = 250'000;
  const auto start = Clock::now();
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([=] { compute(static_cast<long>(milliseconds * kRoundsPerMillisecond)); });
  all.clear();
  std::printf("%.3f\n", std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  return 0;
}

int switches(int pairs, double seconds) {
  std::atomic<long> handed{0};
  std::atomic<bool> over{false};
  std::vector<std::jthread> all;
  for (int i = 0; i < pairs; ++i) {
    int there[2];
    int back[2];
    if (::pipe(there) != 0 || ::pipe(back) != 0) return 1;
    const auto hand = [&handed](int from, int to) {
      char byte = 0;
      while (::read(from, &byte, 1) == 1) {
        handed.fetch_add(1, std::memory_order_relaxed);
        if (::write(to, &byte, 1) != 1) break;
        if (byte == 'q') break;
      }
    };
    all.emplace_back(hand, there[0], back[1]);
    all.emplace_back([=, &over, &handed] {
      char byte = 'x';
      while (!over && ::write(there[1], &byte, 1) == 1 && ::read(back[0], &byte, 1) == 1)
        handed.fetch_add(1, std::memory_order_relaxed);
      byte = 'q';
      if (::write(there[1], &byte, 1) != 1) std::abort();
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  over = true;
  all.clear();
  std::printf("%ld\n", handed.load());
  return 0;
}

int threads(int count) {
  std::barrier together(count);
  std::vector<std::jthread> all;
  for (int i = 0; i < count; ++i)
    all.emplace_back([&] {
      together.arrive_and_wait();
      compute(20'000);
    });
  all.clear();
  std::printf("%d\n", count);
  return 0;
}

int processes(int count, double seconds) {
  const auto start = Clock::now();
  for (int i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl("/bin/true", "true", nullptr);
      ::_exit(1);
    }
    if (pid < 0) return 1;
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(seconds * i / count)));
  }
  while (::wait(nullptr) > 0) {
  }
  std::printf("%d\n", count);
  return 0;
}

// CPU time, not wall time: on a machine where others work, too, only the former means something.
// What a recorder does in the kernel at a switch is part of it.
int timed(char** command) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execvp(command[0], command);
    ::_exit(127);
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) < 0) return 1;
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto microseconds = [](const timeval& time) {
    return time.tv_sec * 1'000'000 + time.tv_usec;
  };
  std::fprintf(stderr, "CPU time: %ld\n",
               microseconds(usage.ru_utime) + microseconds(usage.ru_stime));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 1;
  const double amount = argc > 3 ? std::atof(argv[3]) : 1;
  if (what == "timed" && argc > 2) return timed(argv + 2);
  if (what == "busy") return busy(count, amount);
  if (what == "switches") return switches(count, amount);
  if (what == "threads") return threads(count);
  if (what == "processes") return processes(count, amount);
  std::fprintf(stderr, "usage: load busy|switches|threads|processes COUNT [AMOUNT]\n");
  return 2;
}
