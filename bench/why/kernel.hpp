// Kernels whose bottleneck is known, because changing one thing removes it.
//
//   KERNEL("add_chain", "fp_latency", 1000) { for … }      // as it is
//   RELIEVED("add_chain", 1000) { for … }                  // the one thing changed
//   LOFT_KERNELS_MAIN
//
// The program runs one of them: `kernels NAME [--relieved] [--chunks N]`. It calls the kernel's
// function in chunks and prints the time of a step in the best and the median chunk, so that a busy
// machine disturbs it little. `--list` prints names, accepted causes and steps. `judge` compares
// what loft says with what the relieved variant shows.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace kernels {

using Function = void (*)();

struct Variant {
  Function prepare = nullptr;
  Function chunk = nullptr;
  double steps = 0;  // of one chunk
};

struct Kernel {
  std::string causes;  // accepted, the best first: "fp_latency|width"
  Variant as_it_is;
  Variant relieved;
};

inline std::map<std::string, Kernel>& all() {
  static std::map<std::string, Kernel> kernels;
  return kernels;
}

struct Registration {
  Registration(const char* name, const char* causes, double steps, Function chunk,
               Function prepare) {
    Kernel& kernel = all()[name];
    if (causes != nullptr) {
      kernel.causes = causes;
      kernel.as_it_is = {prepare, chunk, steps};
    } else {
      kernel.relieved = {prepare, chunk, steps};
    }
  }
};

// The function of a kernel has its name; that of the relieved variant ends in _relieved.
#define KERNEL(name, causes, steps, prepare)                                                 \
  extern "C" __attribute__((noinline)) void name();                                          \
  static const kernels::Registration registered_##name(#name, causes, steps, name, prepare); \
  extern "C" __attribute__((noinline)) void name()
#define RELIEVED(name, steps, prepare)                                                       \
  extern "C" __attribute__((noinline)) void name##_relieved();                               \
  static const kernels::Registration relieved_##name(#name, nullptr, steps, name##_relieved, \
                                                     prepare);                               \
  extern "C" __attribute__((noinline)) void name##_relieved()

inline std::uint64_t random_number() {
  static std::uint64_t state = 88172645463325252ULL;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

inline std::uint64_t random_below(std::uint64_t limit) { return (random_number() >> 33) % limit; }

// Memory that is there: mapped, touched, and never given back.
inline char* memory(std::size_t bytes) {
  static std::map<std::size_t, char*> kept;
  char*& place = kept[bytes];
  if (place == nullptr) {
    place = static_cast<char*>(
        mmap(nullptr, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (place == MAP_FAILED) std::abort();
    std::memset(place, 0, bytes);
  }
  return place;
}

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

// Where results go, so that they are computed.
inline volatile double g_double;
inline volatile std::uint64_t g_integer;

// Small numbers, none of them 0. They are written once: what a kernel overwrites stays as it is.
inline double* doubles(std::size_t count) {
  static std::map<std::size_t, bool> is_written;
  double* values = reinterpret_cast<double*>(memory(count * sizeof(double)));
  if (bool& written = is_written[count]; !written) {
    for (std::size_t i = 0; i < count; ++i) values[i] = 0.5 + static_cast<double>(i % 7);
    written = true;
  }
  return values;
}

// A cycle through `count` places, `stride` bytes apart, in random order.
inline void** random_cycle(std::size_t count, std::size_t stride) {
  char* base = memory(count * stride);
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random_number() % i]);
  for (std::size_t i = 0; i < count; ++i)
    *reinterpret_cast<void**>(base + order[i] * stride) = base + order[(i + 1) % count] * stride;
  return reinterpret_cast<void**>(base);
}

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline int run(const Variant& variant, int chunks) {
  if (variant.chunk == nullptr) return 2;
  if (variant.prepare != nullptr) variant.prepare();
  variant.chunk();
  std::vector<double> times;
  const double start = seconds_now();
  for (int i = 0; chunks > 0 ? i < chunks : seconds_now() - start < 1.0; ++i) {
    const double before = seconds_now();
    variant.chunk();
    times.push_back(seconds_now() - before);
  }
  std::sort(times.begin(), times.end());
  std::printf("%zu chunks, ns per step: best %.4f, median %.4f\n", times.size(),
              times.front() / variant.steps * 1e9, times[times.size() / 2] / variant.steps * 1e9);
  return 0;
}

inline int main(int argc, char** argv) {
  std::string name;
  bool is_relieved = false;
  int chunks = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--list") {
      for (const auto& [known, kernel] : all())
        std::printf("%s\t%s\t%g\n", known.c_str(), kernel.causes.c_str(), kernel.as_it_is.steps);
      return 0;
    }
    if (word == "--relieved")
      is_relieved = true;
    else if (word == "--chunks" && i + 1 < argc)
      chunks = std::atoi(argv[++i]);
    else
      name = word;
  }
  const auto found = all().find(name);
  if (found == all().end()) {
    std::fprintf(stderr, "usage: %s NAME [--relieved] [--chunks N] | --list\n", argv[0]);
    return 2;
  }
  return run(is_relieved ? found->second.relieved : found->second.as_it_is, chunks);
}

}  // namespace kernels

#define LOFT_KERNELS_MAIN \
  int main(int argc, char** argv) { return kernels::main(argc, argv); }
