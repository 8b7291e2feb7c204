#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "view/gzip.hpp"
#include "view/pprof_fields.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

using namespace pprof;

class PprofWriter {
 public:
  explicit PprofWriter(const sample::NamedProfile& profile) : profile_(profile), pb_(out_) {}

  std::string write() {
    write_types();
    write_samples();
    write_functions();
    pb_.add_int64(Profile::comment, strings_.of("written by loft"));
    if (profile_.result.first_time)
      pb_.add_int64(
          Profile::duration_nanos,
          static_cast<std::int64_t>(*profile_.result.last_time - *profile_.result.first_time));
    for (const auto& text : strings_.all()) pb_.add_string(Profile::string_table, text);
    return std::move(out_);
  }

 private:
  void write_types() {
    for (const auto event : profile_.used_events()) {
      column_[event] = columns_;
      columns_ += 2;
      const std::string name = printable(profile_.events[event].name);
      const std::string suffix = profile_.used_events().size() > 1 ? " of " + name : "";
      add_type("samples" + suffix, "count");
      add_type(name, profile_.events[event].is_time ? "nanoseconds" : "count");
    }
  }

  void add_type(const std::string& type, const std::string& unit) {
    protozero::pbf_builder<ValueType> value(pb_, Profile::sample_type);
    value.add_int64(ValueType::type, strings_.of(type));
    value.add_int64(ValueType::unit, strings_.of(unit));
  }

  // One per node of the tree; locations innermost first. A location is a function here.
  void write_samples() {
    const auto& tree = profile_.result.tree;
    std::vector<std::uint64_t> ids;
    std::vector<std::int64_t> values;
    for (sample::Trie::NodeId node = 1; node < tree.nodes().size(); ++node) {
      if (tree[node].self.samples == 0) continue;
      const auto path = profile_.path_to(node);
      ids.clear();
      for (std::size_t i = path.size(); i-- > 0;) ids.push_back(location_of(path[i]));
      values.assign(columns_, 0);
      const auto column = column_[profile_.event_of(node)];
      values[column] = static_cast<std::int64_t>(tree[node].self.samples);
      values[column + 1] = static_cast<std::int64_t>(tree[node].self.period);
      protozero::pbf_builder<Sample> sample(pb_, Profile::sample);
      sample.add_packed_uint64(Sample::location_id, ids.begin(), ids.end());
      sample.add_packed_int64(Sample::value, values.begin(), values.end());
    }
  }

  std::uint64_t location_of(std::uint32_t function) {
    return locations_.emplace(function, locations_.size() + 1).first->second;
  }

  void write_functions() {
    std::map<std::uint32_t, std::uint64_t> mappings;
    for (const auto& [function, id] : locations_) {
      const auto binary = profile_.locations.function(function).binary;
      std::uint64_t mapping = 0;
      if (binary != sample::Function::kNoBinary)
        mapping = mappings.emplace(binary, mappings.size() + 1).first->second;
      const auto name = strings_.of(printable(profile_.function_name(function)));
      {
        protozero::pbf_builder<FunctionField> out(pb_, Profile::function);
        out.add_uint64(FunctionField::id, id);
        out.add_int64(FunctionField::name, name);
        out.add_int64(FunctionField::system_name, name);
      }
      protozero::pbf_builder<LocationField> out(pb_, Profile::location);
      out.add_uint64(LocationField::id, id);
      if (mapping != 0) out.add_uint64(LocationField::mapping_id, mapping);
      out.add_uint64(LocationField::address, profile_.locations.function(function).address);
      protozero::pbf_builder<Line> line(out, LocationField::line);
      line.add_uint64(Line::function_id, id);
    }
    // pprof takes the first one for the program.
    const auto program = std::find_if(mappings.begin(), mappings.end(), [&](const auto& mapping) {
      return is_program(profile_.history.binaries()[mapping.first]);
    });
    if (program != mappings.end()) write_mapping(program->first, program->second);
    for (auto mapping = mappings.begin(); mapping != mappings.end(); ++mapping)
      if (mapping != program) write_mapping(mapping->first, mapping->second);
  }

  void write_mapping(std::uint32_t binary, std::uint64_t id) {
    const auto& known = profile_.history.binaries()[binary];
    protozero::pbf_builder<MappingField> out(pb_, Profile::mapping);
    out.add_uint64(MappingField::id, id);
    out.add_int64(MappingField::filename, strings_.of(printable(known.path)));
    out.add_int64(MappingField::build_id, strings_.of(known.build_id));
    out.add_bool(MappingField::has_functions, true);
  }

  // Whether it is what the process with the most samples ran: the kernel names a process by the
  // start of its file's name.
  [[nodiscard]] bool is_program(const sample::MappedBinary& binary) const {
    constexpr std::size_t kCommLength = 15;
    const auto& processes = profile_.result.processes;
    const auto most = std::max_element(
        processes.begin(), processes.end(),
        [](const auto& a, const auto& b) { return a.weight.samples < b.weight.samples; });
    if (most == processes.end()) return false;
    const auto comm = profile_.history.comm_at(most->pid, ~std::uint64_t{0});
    const std::string name = binary.path.substr(binary.path.rfind('/') + 1);
    return !name.empty() && name.substr(0, kCommLength) == profile_.history.names()[comm];
  }

  const sample::NamedProfile& profile_;
  std::string out_;
  protozero::pbf_builder<Profile> pb_;
  Strings strings_;
  std::map<std::uint32_t, std::size_t> column_;
  std::size_t columns_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> locations_;
};

}  // namespace

Result<std::string> pprof_profile(const sample::NamedProfile& profile) {
  return gzipped(PprofWriter(profile).write(), "compress the profile");
}

}  // namespace loft::view
