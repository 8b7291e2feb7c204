// Inside view/: the messages of pprof's profile.proto, as far as loft writes them.
#pragma once

#include <cstdint>
#include <protozero/pbf_builder.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace loft::view::pprof {

// Field numbers of profile.proto.
enum class Profile : protozero::pbf_tag_type {
  sample_type = 1,
  sample = 2,
  mapping = 3,
  location = 4,
  function = 5,
  string_table = 6,
  duration_nanos = 10,
  period_type = 11,
  period = 12,
  comment = 13,
  default_sample_type = 14
};
enum class ValueType : protozero::pbf_tag_type { type = 1, unit = 2 };
enum class Sample : protozero::pbf_tag_type { location_id = 1, value = 2, label = 3 };
enum class Label : protozero::pbf_tag_type { key = 1, text = 2, number = 3 };
enum class MappingField : protozero::pbf_tag_type {
  id = 1,
  filename = 5,
  build_id = 6,
  has_functions = 7
};
enum class LocationField : protozero::pbf_tag_type {
  id = 1,
  mapping_id = 2,
  address = 3,
  line = 4
};
enum class Line : protozero::pbf_tag_type { function_id = 1 };
enum class FunctionField : protozero::pbf_tag_type { id = 1, name = 2, system_name = 3 };

// Texts are numbered; number 0 is the empty one.
class Strings {
 public:
  Strings() { (void)of(""); }
  std::int64_t of(const std::string& text) {
    const auto [entry, is_new] = index_.emplace(text, static_cast<std::int64_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return entry->second;
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

 private:
  std::unordered_map<std::string, std::int64_t> index_;
  std::vector<std::string> texts_;
};

}  // namespace loft::view::pprof
