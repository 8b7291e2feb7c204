// engine_stream COMMAND...
//
// Runs a command under the engine with the address stream written and thrown away.
#include <cstdio>

#include "engine/run.hpp"

int main(int count, char** arguments) {
  auto run = loft::engine::Run::prepare({arguments + 1, arguments + count});
  if (run) run->shared().ask_for_stream(loft::engine::StreamMode::thrown_away);
  const auto started = run ? run->start() : loft::Result<void>();
  const auto end = run && started ? run->wait() : loft::Result<loft::ProcessEnd>();
  const loft::Error* error = !run ? &run.error() : !started ? &started.error() : nullptr;
  if (error == nullptr && !end) error = &end.error();
  if (error == nullptr) return end->shell_status();
  std::fprintf(stderr, "engine_stream: %s\n", loft::to_string(*error).c_str());
  return 125;
}
