// Work as JSON, and fields of JSON that anybody may have written: what recordings of rooflines
// keep.
//
//   Fields fields(json);
//   const auto name = fields.get<std::string>("name");
//   if (!fields.wrong().empty()) return damaged(fields.wrong());
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/roof_points.hpp"

namespace loft::roof {

using nlohmann::ordered_json;

[[nodiscard]] ordered_json json_of(const std::optional<model::Work>& work);

// Reads fields of a text that anybody may have written; the first that is wrong is kept.
class Fields {
 public:
  explicit Fields(const ordered_json& json) : json_(json) {}

  template <class T>
  T get(const char* name) {
    if (const ordered_json* found = find(name)) {
      try {
        return found->get<T>();
      } catch (const nlohmann::json::exception&) {
      }
    }
    note(name);
    return T{};
  }

  // A number that is not below zero.
  double amount(const char* name) {
    const auto value = get<double>(name);
    if (!(value >= 0)) note(name);
    return value;
  }

  std::optional<model::Work> work(const char* name);

  [[nodiscard]] const ordered_json* find(const char* name) const {
    const auto found = json_.is_object() ? json_.find(name) : json_.end();
    return json_.is_object() && found != json_.end() ? &*found : nullptr;
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

  void note(const std::string& name) {
    if (wrong_.empty()) wrong_ = name;
  }

 private:
  const ordered_json& json_;
  std::string wrong_;
};

// Each element of a list, read by `read`; the name of the first field that is wrong.
template <class Read>
std::string read_each(Fields& fields, const char* name, const Read& read) {
  for (const ordered_json& each : fields.get<ordered_json>(name)) {
    Fields part(each);
    read(part);
    if (!part.wrong().empty()) return part.wrong();
  }
  return {};
}

}  // namespace loft::roof
