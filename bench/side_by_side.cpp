// side_by_side [-n ROUNDS] COMMAND ::: COMMAND [::: COMMAND...]
//
// Wall time of whole commands, compared on a machine that is never quiet. Each round runs every
// command once, in an order that rotates, so that a disturbance meets all of them alike. Times are
// medians; a ratio is the median over the rounds of (this command / the last one), with the
// interval that holds the true median with 95 % confidence whatever the distribution.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace {

using Command = std::vector<std::string>;

struct Arguments {
  std::size_t rounds = 300;
  std::vector<Command> commands;
};

bool parse(int argc, char** argv, Arguments& arguments) {
  int next = 1;
  if (argc > 2 && std::string_view(argv[1]) == "-n") {
    const auto rounds = loft::parse_u64(argv[2]);
    if (!rounds || *rounds < 10 || *rounds > 1'000'000) return false;
    arguments.rounds = *rounds;
    next = 3;
  }
  arguments.commands.emplace_back();
  for (; next < argc; ++next) {
    if (std::string_view(argv[next]) == ":::") {
      arguments.commands.emplace_back();
    } else {
      arguments.commands.back().emplace_back(argv[next]);
    }
  }
  return arguments.commands.size() > 1 &&
         std::none_of(arguments.commands.begin(), arguments.commands.end(),
                      [](const Command& command) { return command.empty(); });
}

// Seconds from start to end, or less than zero when it did not end with status 0. Its output goes
// nowhere: a terminal would be part of the measurement.
double time_of(const Command& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t silence;
  ::posix_spawn_file_actions_init(&silence);
  ::posix_spawn_file_actions_addopen(&silence, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&silence, 2, "/dev/null", O_WRONLY, 0);

  const auto start = loft::now();
  pid_t child = 0;
  int status = -1;
  const bool started =
      ::posix_spawnp(&child, words[0], &silence, nullptr, words.data(), environ) == 0 &&
      ::waitpid(child, &status, 0) == child;
  const auto end = loft::now();
  ::posix_spawn_file_actions_destroy(&silence);
  if (!started || status != 0) return -1;
  return std::chrono::duration<double>(end - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct Interval {
  double low;
  double high;
};

// The order statistics between which the median lies with 95 % confidence (normal approximation
// of the binomial, good from some ten values on).
Interval interval_of_median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  const double reach = 1.96 * std::sqrt(n) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  const auto high = static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + reach)));
  return {values[low], values[high]};
}

// times[command][round]
void print(const Arguments& arguments, const std::vector<std::vector<double>>& times) {
  const std::vector<double>& reference = times.back();
  fmt::print("{:>10}  {:>10}  {:>22}  {}\n", "median", "best", "ratio to the last", "command");
  for (std::size_t c = 0; c < times.size(); ++c) {
    std::vector<double> ratios;
    for (std::size_t r = 0; r < reference.size(); ++r) ratios.push_back(times[c][r] / reference[r]);
    const Interval interval = interval_of_median(ratios);
    const std::string ratio =
        c + 1 == times.size()
            ? std::string("1")
            : fmt::format("{:.3f} ({:.3f} to {:.3f})", median(ratios), interval.low, interval.high);
    fmt::print("{:>7.3f} ms  {:>7.3f} ms  {:>22}  {}\n", median(times[c]) * 1e3,
               *std::min_element(times[c].begin(), times[c].end()) * 1e3, ratio,
               loft::join(arguments.commands[c], " "));
  }
  fmt::print("{} rounds\n", reference.size());
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    fmt::print(stderr, "usage: side_by_side [-n ROUNDS] COMMAND ::: COMMAND [::: COMMAND...]\n");
    return 2;
  }
  const std::size_t count = arguments.commands.size();
  std::vector<std::vector<double>> times(count, std::vector<double>(arguments.rounds));
  for (std::size_t round = 0; round < arguments.rounds; ++round) {
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t c = (round + turn) % count;
      times[c][round] = time_of(arguments.commands[c]);
      if (times[c][round] < 0) {
        fmt::print(stderr, "side_by_side: '{}' failed\n", loft::join(arguments.commands[c], " "));
        return 1;
      }
    }
  }
  print(arguments, times);
  return 0;
}
