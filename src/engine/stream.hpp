// Reads the address stream of a run: what every instruction touched, in order per thread.
//
//   run.shared().ask_for_stream(StreamMode::handed_over);      // before it starts
//   StreamReader reader(run.shared(), [&](const StreamedInstruction& instruction) {
//     for (const Touch& touch : instruction.touched) cache.access(touch.address, touch.size);
//   });
//   run.start();  run.wait();
//   reader.finish();                                           // what was left in the buffers
//
// The listener is called by the reader's own thread; the program waits while its buffer is read.
// Branches need no record of their own: a block's last instruction went where the next one of the
// same thread is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/classify/resolve.hpp"
#include "engine/shared.hpp"

namespace loft::engine {

struct StreamedInstruction {
  std::uint32_t slot = 0;
  std::uint64_t address = 0;
  const InstructionFacts* facts = nullptr;
  std::span<const Touch> touched;
  // False: a signal interrupted it, and it starts again. Touched is what it did until then.
  bool is_finished = true;
};
using StreamListener = std::function<void(const StreamedInstruction&)>;

class StreamReader {
 public:
  StreamReader(Shared& shared, StreamListener listener);
  ~StreamReader();
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  // After the program's end: reads what is left, and ends the thread.
  void finish();

  // Bytes that did not read as records. Always 0, unless the program wrote over its own stream.
  [[nodiscard]] std::uint64_t lost_bytes() const { return lost_bytes_; }

 private:
  struct Block {
    std::uint64_t address = 0;
    std::vector<InstructionFacts> instructions;
    bool is_begun = false;  // its last instruction was not finished
  };

  void work(const std::stop_token& stop);
  void read(std::uint32_t slot, std::span<const std::byte> bytes);
  std::span<const std::byte> read_block(std::uint32_t slot, const Block& block,
                                        std::span<const std::byte> words);
  const Block& block_of(std::uint32_t number);

  Shared& shared_;
  StreamListener listener_;
  std::unordered_map<std::uint32_t, Block> blocks_;
  std::unique_ptr<RegisterState> state_ = std::make_unique<RegisterState>();
  std::vector<Touch> touched_;
  std::uint64_t lost_bytes_ = 0;
  std::jthread thread_;
};

}  // namespace loft::engine
