// Runs a command under the engine and says on standard error what was counted: a tool for tests and
// for looking at the engine alone.
//
//   loft_engine_try [-q] [-w] COMMAND...
//
// With -q it keeps silent about counts. With -w windows of the address stream could be opened.
#include <fmt/format.h>
#include <cstdio>
#include <cstring>

#include "engine/run.hpp"

namespace {

int failed(const loft::Error& error) {
  fmt::print(stderr, "engine: {}\n", loft::to_string(error));
  return 125;
}

}  // namespace

int main(int argc, char** argv) {
  bool quiet = false;
  bool windows = false;
  int first = 1;
  for (; first < argc && argv[first][0] == '-'; ++first) {
    quiet = quiet || std::strcmp(argv[first], "-q") == 0;
    windows = windows || std::strcmp(argv[first], "-w") == 0;
  }
  const std::vector<std::string> command(argv + first, argv + argc);
  auto run = loft::engine::Run::prepare(command);
  if (!run) return failed(run.error());
  if (windows) run->shared().ask_for_stream(loft::engine::StreamMode::windows);
  if (const auto started = run->start(); !started) return failed(started.error());
  const auto end = run->wait();
  const auto& shared = run->shared();
  if (!quiet) {
    std::uint64_t total = 0;
    const auto slots = shared.slots();
    for (std::uint32_t i = 0; i < slots.size(); ++i) {
      const auto counts = shared.counts(i);
      if (!counts) return failed(counts.error());
      std::uint64_t instructions = 0;
      for (const auto& [block, count] : *counts)
        if (const auto entry = shared.block(block); entry.kind == 0)
          instructions += entry.instructions * count;
      total += instructions;
      fmt::print(stderr, "engine: {} {} {} {}\n", slots[i].process, slots[i].thread, slots[i].name,
                 instructions);
    }
    fmt::print(stderr, "engine: instructions {} blocks {}\n", total, shared.blocks() - 1);
  }
  for (const auto& line : shared.messages()) fmt::print(stderr, "engine: {}\n", line);
  if (!end) return failed(end.error());
  return end->shell_status();
}
