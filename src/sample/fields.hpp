// A record taken apart for people: its kind, where it stands, and its fields one by one. The source
// knows what a record means; a view decides how a field looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/text_buffer.hpp"

namespace loft::sample {

// What all records have, or may have.
struct RecordHead {
  std::uint64_t number = 0;  // its index in the recording
  std::uint64_t offset = 0;
  std::string_view type;
  std::uint32_t type_number = 0;  // for those without a name
  std::optional<std::uint64_t> time;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::optional<std::uint32_t> cpu;
  std::string_view comm;
  std::string_view event;
};

struct FrameText {
  static constexpr std::uint32_t kNoPlace = 0xFFFFFFFF;
  std::uint64_t address = 0;
  std::string_view function;
  std::string_view binary;
  std::uint32_t place = kNoPlace;  // small; stands for these two texts in all frames of a describer
};

class FieldSink {
 public:
  virtual ~FieldSink() = default;
  virtual void begin(const RecordHead& head) = 0;
  virtual void number(std::string_view name, std::uint64_t value) = 0;
  virtual void signed_number(std::string_view name, std::int64_t value) = 0;
  virtual void real(std::string_view name, double value) = 0;
  virtual void address(std::string_view name, std::uint64_t value) = 0;  // shown in hexadecimal
  virtual void text(std::string_view name, std::string_view value) = 0;
  virtual void flag(std::string_view name) = 0;  // present means true
  virtual void bytes(std::string_view name, std::span<const std::byte> value) = 0;
  // The fields up to end_group() belong together; items of a list have no name of their own.
  virtual void begin_group(std::string_view name) = 0;
  virtual void end_group() = 0;
  virtual void begin_list(std::string_view name) = 0;
  virtual void end_list() = 0;
  virtual void frame(const FrameText& frame) = 0;  // within a list
  // Where a sample was taken.
  virtual void instruction(const FrameText& frame) {
    address("ip", frame.address);
    text("function", frame.function);
    text("binary", frame.binary);
  }
  // The frames that follow up to the end of the list, one or more behind others, always go by this
  // number. True when the sink still knew them and has written them: they need not be given.
  virtual bool known_frames(std::uint32_t number) {
    (void)number;
    return false;
  }
  virtual void end() = 0;
};

// A sink that writes text.
class RecordWriter : public FieldSink {
 public:
  [[nodiscard]] virtual std::string_view written() const = 0;
  // Gives away what it has written and goes on behind what `other` holds.
  virtual void exchange(TextBuffer& other) = 0;
};

}  // namespace loft::sample
