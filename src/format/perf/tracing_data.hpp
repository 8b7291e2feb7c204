// Tracing data: the formats of the tracepoints that a recording sampled. libtraceevent reads the
// formats once; what comes back is plain and can be used by several threads.
//
//   const TracingData tracing = read_tracing_data(bytes);
//   if (const auto* format = tracing.find(attr.config))
//     for (const auto& field : format->fields) show(field.name, value_of(field, raw, order));
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.hpp"

namespace loft::format::perf {

struct TracepointField {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t element_size = 0;
  bool is_signed = false;
  bool is_text = false;
  bool is_pointer = false;
  bool is_array = false;
  bool is_dynamic = false;   // the field holds the place and size of the real one
  bool is_relative = false;  // that place counts from behind the field
};

struct TracepointFormat {
  std::string system;
  std::string name;
  std::vector<TracepointField> fields;
};

struct TracingData {
  std::map<std::uint64_t, TracepointFormat> formats;  // by the id that attr.config has
  std::string kallsyms;                               // older recorders put it here
  std::string note;                                   // what could not be read, for people

  [[nodiscard]] const TracepointFormat* find(std::uint64_t id) const {
    const auto found = formats.find(id);
    return found == formats.end() ? nullptr : &found->second;
  }
};

[[nodiscard]] TracingData read_tracing_data(std::span<const std::byte> bytes);

// A number, a signed number, a text, or bytes that are neither; nothing when the raw data ends
// first.
using FieldValue = std::variant<std::monostate, std::uint64_t, std::int64_t, std::string_view,
                                std::span<const std::byte>>;
[[nodiscard]] FieldValue value_of(const TracepointField& field, std::span<const std::byte> raw,
                                  ByteOrder order);

}  // namespace loft::format::perf
