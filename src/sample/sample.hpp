// One sample as a profile needs it, and who takes samples. A live run and a recording both deliver
// these; nothing behind this point knows which it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "loft/perf_data/sample.hpp"

namespace loft::sample {

using perf_data::CpuMode;

// Fields that the event does not carry are 0; EventInfo says which it carries.
struct Sample {
  std::uint64_t ip = 0;
  std::uint64_t time = 0;
  std::uint64_t period = 0;
  std::uint32_t event = 0;  // index into the events of the recording
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t cpu = 0;
  CpuMode mode = CpuMode::unknown;
  std::uint64_t place = 0;                               // in its file; tells it from the others
  perf_data::U64View call_chain;                         // innermost first, with context marks
  const perf_data::Registers* user_registers = nullptr;  // with a copy of the stack, for unwinding
  std::span<const std::byte> user_stack;
};

// Takes the samples of one worker; each worker has its own.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual void add(const Sample& sample) = 0;
  // Several at once: lets a sink look ahead.
  virtual void add_all(std::span<const Sample> samples) {
    for (const Sample& sample : samples) add(sample);
  }
  // After its last sample; `unreadable` are those that could not be decoded.
  virtual void finish(std::uint64_t unreadable) { (void)unreadable; }
};

}  // namespace loft::sample
