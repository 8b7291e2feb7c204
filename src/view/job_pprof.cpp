#include "view/job_pprof.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "view/gzip.hpp"
#include "view/pprof_fields.hpp"

namespace loft::view {
namespace {

using pprof::FunctionField;
using pprof::Label;
using pprof::Line;
using pprof::LocationField;
using pprof::MappingField;
using pprof::Profile;
using pprof::Strings;
using pprof::ValueType;

using Builder = protozero::pbf_builder<Profile>;

void add_type(Builder& out, Strings& strings, const std::string& name, const std::string& unit) {
  protozero::pbf_builder<ValueType> value(out, Profile::sample_type);
  value.add_int64(ValueType::type, strings.of(printable(name)));
  value.add_int64(ValueType::unit, strings.of(unit == "ns" ? "nanoseconds" : "count"));
}

void add_text_label(protozero::pbf_builder<pprof::Sample>& sample, Strings& strings,
                    const std::string& key, const std::string& text) {
  if (text.empty()) return;
  protozero::pbf_builder<Label> label(sample, pprof::Sample::label);
  label.add_int64(Label::key, strings.of(key));
  label.add_int64(Label::text, strings.of(printable(text)));
}

void add_function(Builder& out, Strings& strings, std::uint64_t id, const std::string& name,
                  std::uint64_t mapping) {
  const auto text = strings.of(printable(name));
  {
    protozero::pbf_builder<FunctionField> function(out, Profile::function);
    function.add_uint64(FunctionField::id, id);
    function.add_int64(FunctionField::name, text);
    function.add_int64(FunctionField::system_name, text);
  }
  protozero::pbf_builder<LocationField> location(out, Profile::location);
  location.add_uint64(LocationField::id, id);
  location.add_uint64(LocationField::mapping_id, mapping);
  protozero::pbf_builder<Line> line(location, LocationField::line);
  line.add_uint64(Line::function_id, id);
}

}  // namespace

void JobPprof::add(const model::JobTableRow& row) {
  if (row.function.empty() || !row.value) return;
  const std::pair<std::string, std::string> column{row.metric, row.unit};
  auto place = std::ranges::find(columns_, column);
  if (place == columns_.end()) place = columns_.insert(columns_.end(), column);
  const auto index = static_cast<std::size_t>(place - columns_.begin());
  const std::pair<std::string, std::string> key{row.function, row.binary};
  const auto [function, is_new] = function_index_.try_emplace(key, functions_.size());
  if (is_new) functions_.push_back(key);
  const bool goes_on = !samples_.empty() && samples_.back().function == function->second &&
                       samples_.back().rank == row.rank && samples_.back().step == row.step;
  if (!goes_on)
    samples_.push_back(
        {function->second, std::string(row.job), std::string(row.node), row.step, row.rank, {}});
  auto& values = samples_.back().values;
  values.resize(std::max(values.size(), index + 1));
  values[index] += *row.value;
}

Result<std::string> JobPprof::finish() const {
  std::string bytes;
  Builder out(bytes);
  Strings strings;
  for (const auto& [name, unit] : columns_) add_type(out, strings, name, unit);
  for (const Sample& sample : samples_) {
    protozero::pbf_builder<pprof::Sample> message(out, Profile::sample);
    const std::uint64_t location = sample.function + 1;
    message.add_packed_uint64(pprof::Sample::location_id, &location, &location + 1);
    std::vector<std::int64_t> values(columns_.size());
    for (std::size_t i = 0; i < sample.values.size(); ++i)
      values[i] = static_cast<std::int64_t>(sample.values[i]);
    message.add_packed_int64(pprof::Sample::value, values.begin(), values.end());
    add_text_label(message, strings, "job", sample.job);
    add_text_label(message, strings, "node", sample.node);
    add_text_label(message, strings, "step", std::to_string(sample.step));
    add_text_label(message, strings, "rank", std::to_string(sample.rank));
  }
  std::map<std::string, std::uint64_t> mappings;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const auto& [name, binary] = functions_[i];
    const std::uint64_t mapping = mappings.try_emplace(binary, mappings.size() + 1).first->second;
    add_function(out, strings, i + 1, name, mapping);
  }
  for (const auto& [binary, id] : mappings) {
    protozero::pbf_builder<MappingField> mapping(out, Profile::mapping);
    mapping.add_uint64(MappingField::id, id);
    mapping.add_int64(MappingField::filename, strings.of(printable(binary)));
    mapping.add_bool(MappingField::has_functions, true);
  }
  for (const auto& text : strings.all()) out.add_string(Profile::string_table, text);
  return gzipped(bytes, "compress the profile");
}

}  // namespace loft::view
