// engine_stream [--polls | --windows | --read] COMMAND...
//
// Runs a command under the engine with the address stream written and thrown away; with windows
// possible but none opened; with the windows of the default schedule; or with everything read.
// Says on standard error what was read.
#include <cstdio>
#include <cstring>
#include <optional>

#include "engine/run.hpp"
#include "engine/stream.hpp"

namespace {

using loft::engine::StreamMode;

struct Nothing : loft::engine::StreamListener {
  void on_block(const loft::engine::StreamedBlock& ran) override {
    ran.for_each_touch([this](const loft::engine::StreamTouch& touch) { sum += touch.address; });
  }
  std::uint64_t sum = 0;
};

int failed(const loft::Error& error) {
  std::fprintf(stderr, "engine_stream: %s\n", loft::to_string(error).c_str());
  return 125;
}

void report(const loft::engine::StreamTotals& totals) {
  const double seconds = loft::to_seconds(totals.reading);
  const auto instructions = static_cast<double>(totals.instructions);
  std::fprintf(stderr,
               "engine_stream: %llu windows, %.1f M instructions, %.2f s of reading, %.0f M/s\n",
               static_cast<unsigned long long>(totals.windows), instructions / 1e6, seconds,
               seconds > 0 ? instructions / seconds / 1e6 : 0.0);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view way = count > 1 ? arguments[1] : "";
  const bool has_way = way.starts_with("--");
  auto run = loft::engine::Run::prepare({arguments + (has_way ? 2 : 1), arguments + count});
  if (!run) return failed(run.error());
  const bool has_windows = way == "--polls" || way == "--windows";
  run->shared().ask_for_stream(has_windows       ? StreamMode::windows
                               : way == "--read" ? StreamMode::handed_over
                                                 : StreamMode::thrown_away);
  Nothing nothing;
  std::optional<loft::engine::StreamReader> reader;
  if (way == "--windows")
    reader.emplace(run->shared(), nothing, loft::engine::WindowSchedule());
  else if (way == "--read")
    reader.emplace(run->shared(), nothing);
  if (const auto started = run->start(); !started) return failed(started.error());
  const auto end = run->wait();
  if (reader) {
    reader->finish();
    report(reader->totals());
  }
  if (!end) return failed(end.error());
  return end->shell_status();
}
