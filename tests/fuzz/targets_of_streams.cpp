// The target that reads the engine's address stream.
#ifdef LOFT_HAS_ENGINE
#include "engine/stream_block.hpp"
#include "fuzz/targets.hpp"

namespace loft::fuzz {

// The program can write all of the memory that the stream is in.
void fuzz_stream(Bytes bytes) {
  if (bytes.empty()) return;
  const std::size_t code = std::min<std::size_t>(std::to_integer<std::size_t>(bytes[0]), 255);
  if (bytes.size() < 1 + code) return;
  engine::BlockEntry entry{};
  entry.address = 0x401000;
  entry.size = static_cast<std::uint32_t>(code);
  const engine::StreamBlock block(entry,
                                  {reinterpret_cast<const std::uint8_t*>(bytes.data()) + 1, code});
  std::vector<std::byte> record(bytes.begin() + 1 + static_cast<std::ptrdiff_t>(code), bytes.end());
  record.resize(block.record_bytes());
  static engine::StreamScratch scratch;
  std::uint64_t sum = 0;
  block.for_each_touch(record.data(), scratch, [&](const auto& touch) { sum += touch.address; });
  for (const engine::StreamTouch& touch : block.touches(record.data(), scratch))
    sum -= touch.address;
  if (sum != 0) std::abort();  // both ways give the same
}

}  // namespace loft::fuzz
#endif
