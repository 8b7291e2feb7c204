// Reads machine files. Nothing in them is trusted.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "machine/file.hpp"

namespace loft::machine {
namespace {

using Json = nlohmann::ordered_json;

// Reads fields with their path, so that an error can name the one that is wrong.
class Reader {
 public:
  Reader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  [[nodiscard]] bool failed() const { return !error_.empty(); }
  [[nodiscard]] const std::string& error() const { return error_; }
  void fail(const std::string& field, const std::string& why) {
    if (error_.empty()) error_ = "field '" + path_ + field + "' " + why;
  }

  void text(const char* name, std::string& out) {
    const auto at = find(name);
    if (at == json_.end()) return;
    if (!at->is_string()) return fail(name, "is not a string");
    out = at->get<std::string>();
  }
  void flag(const char* name, bool& out) {
    const auto at = find(name);
    if (at == json_.end()) return;
    if (!at->is_boolean()) return fail(name, "is not true or false");
    out = at->get<bool>();
  }
  // Null stands for unknown and leaves `out` alone.
  void real(const char* name, double& out) {
    const auto at = find(name);
    if (at == json_.end() || at->is_null()) return;
    if (!at->is_number()) return fail(name, "is not a number");
    out = at->get<double>();
    if (!std::isfinite(out) || out < 0) fail(name, "is negative or not finite");
  }
  template <class Integer>
  void integer(const char* name, Integer& out, std::uint64_t most = 1ULL << 62) {
    const auto at = find(name);
    if (at == json_.end()) return;
    if (!at->is_number_unsigned() || at->get<std::uint64_t>() > most)
      return fail(name, "is not a whole number in range");
    out = static_cast<Integer>(at->get<std::uint64_t>());
  }
  void texts(const char* name, std::vector<std::string>& out) {
    const auto at = find(name);
    if (at == json_.end()) return;
    if (!at->is_array()) return fail(name, "is not a list");
    for (const Json& each : *at) {
      if (!each.is_string()) return fail(name, "holds something that is not a string");
      out.push_back(each.get<std::string>());
    }
  }
  void cpus(const char* name, CpuList& out) {
    const auto at = find(name);
    if (at == json_.end()) return;
    if (!at->is_array()) return fail(name, "is not a list");
    for (const Json& each : *at) {
      if (!each.is_number_unsigned() || each.get<std::uint64_t>() > 65535)
        return fail(name, "holds something that is not a CPU");
      out.push_back(each.get<int>());
    }
  }
  template <class Read>
  void objects(const char* name, Read read) {
    const auto at = find(name);
    if (at == json_.end()) return;
    if (!at->is_array()) return fail(name, "is not a list");
    for (std::size_t i = 0; i < at->size() && !failed(); ++i) {
      const std::string path = path_ + name + "[" + std::to_string(i) + "].";
      if (!(*at)[i].is_object()) return fail(name, "holds something that is not an object");
      Reader inner((*at)[i], path);
      read(inner);
      if (inner.failed()) error_ = inner.error();
    }
  }
  template <class Read>
  void object(const char* name, Read read) {
    const auto at = find(name);
    if (at == json_.end() || failed()) return;
    if (!at->is_object()) return fail(name, "is not an object");
    Reader inner(*at, path_ + name + ".");
    read(inner);
    if (inner.failed()) error_ = inner.error();
  }
  void require(const char* name) {
    if (!json_.contains(name)) fail(name, "is missing");
  }
  [[nodiscard]] const Json& json() const { return json_; }

 private:
  [[nodiscard]] Json::const_iterator find(const char* name) const { return json_.find(name); }

  const Json& json_;
  std::string path_;
  std::string error_;
};

void read_verdict(Reader& reader, model::Verdict& verdict) {
  std::string text;
  reader.require("verdict");
  reader.text("verdict", text);
  for (const auto each :
       {model::Verdict::stable, model::Verdict::noisy, model::Verdict::unavailable}) {
    if (text == to_string(each)) {
      verdict = each;
      return;
    }
  }
  reader.fail("verdict", "is none of stable, noisy, unavailable");
}

void read_system(Reader& reader, model::System& system) {
  reader.text("cpu", system.cpu);
  reader.text("microcode", system.microcode);
  reader.text("kernel", system.kernel);
  reader.integer("cpus", system.cpus, 65536);
}

void read_topology(Reader& reader, model::Topology& topology) {
  reader.objects("cpus", [&](Reader& each) {
    model::Cpu cpu;
    each.integer("id", cpu.id, 65535);
    each.integer("core", cpu.core, 65535);
    each.integer("package", cpu.package, 65535);
    each.integer("node", cpu.node, 65535);
    each.integer("capacity", cpu.capacity, 1u << 30);
    topology.cpus.push_back(cpu);
  });
  reader.cpus("offline", topology.offline);
  reader.integer("packages", topology.packages, 65535);
  reader.integer("nodes", topology.nodes, 65535);
  reader.integer("threads_per_core", topology.threads_per_core, 1024);
  reader.flag("hybrid", topology.is_hybrid);
  reader.objects("caches", [&](Reader& each) {
    model::Cache cache;
    each.integer("level", cache.level, 16);
    each.text("type", cache.type);
    each.integer("bytes", cache.bytes);
    each.integer("line", cache.line);
    each.integer("ways", cache.ways, 1u << 30);
    each.integer("instances", cache.instances, 65535);
    each.integer("shared_by", cache.shared_by, 65535);
    topology.caches.push_back(std::move(cache));
  });
}

void read_kind(Reader& reader, model::RoofKind& kind) {
  std::string text;
  reader.require("kind");
  reader.text("kind", text);
  for (const auto each : {model::RoofKind::flops, model::RoofKind::bandwidth,
                          model::RoofKind::instructions, model::RoofKind::integer}) {
    if (text == to_string(each)) {
      kind = each;
      return;
    }
  }
  reader.fail("kind", "is none of flops, bandwidth, instructions, integer");
}

model::Roof read_roof(Reader& reader) {
  model::Roof roof;
  read_kind(reader, roof.kind);
  for (const char* needed : {"isa", "op", "threads", "best"}) reader.require(needed);
  if (roof.kind == model::RoofKind::flops) reader.require("precision");
  if (roof.kind == model::RoofKind::bandwidth) reader.require("level");
  reader.text("isa", roof.isa);
  reader.text("precision", roof.precision);
  reader.text("op", roof.op);
  reader.text("level", roof.level);
  reader.text("mix", roof.mix);
  reader.integer("bytes", roof.bytes);
  reader.integer("streams", roof.streams, 1024);
  reader.integer("threads", roof.threads, 65536);
  reader.cpus("cpus", roof.cpus);
  reader.real("best", roof.best);
  reader.real("median", roof.median);
  reader.real("per_cycle", roof.per_cycle);
  reader.real("spread", roof.spread);
  reader.integer("windows", roof.windows, 1u << 30);
  reader.integer("disturbed", roof.disturbed, 1u << 30);
  read_verdict(reader, roof.verdict);
  reader.text("why", roof.why);
  reader.text("when", roof.when);
  if (roof.verdict != model::Verdict::unavailable && roof.best <= 0)
    reader.fail("best", "is not a positive number");
  return roof;
}

void read_constants(Reader& reader, const std::string& group,
                    std::vector<model::Constant>& constants) {
  const auto at = reader.json().find(group);
  if (at == reader.json().end()) return;
  if (!at->is_object()) return reader.fail(group, "is not an object");
  for (const auto& [name, value] : at->items()) {
    const std::string path = group + "." + printable(name);
    if (!value.is_object()) return reader.fail(path, "is not an object");
    Reader inner(value, path + ".");
    model::Constant constant;
    constant.name = name;
    inner.text("unit", constant.unit);
    inner.real("value", constant.value);
    inner.real("cycles", constant.cycles);
    inner.real("ns", constant.ns);
    inner.real("median", constant.median);
    inner.real("spread", constant.spread);
    read_verdict(inner, constant.verdict);
    inner.text("origin", constant.origin);
    inner.text("why", constant.why);
    if (inner.failed()) return reader.fail({}, inner.error());
    constants.push_back(std::move(constant));
  }
}

void read_machine(Reader& reader, model::Machine& machine) {
  for (const char* needed : {"identity", "cpu", "frequency_hz", "tsc_hz", "roofs", "constants"})
    reader.require(needed);
  reader.text("identity", machine.identity);
  reader.text("cpu", machine.cpu);
  reader.text("architecture", machine.architecture);
  reader.text("hypervisor", machine.hypervisor);
  reader.integer("cores", machine.topology.cores, 65536);
  reader.texts("isas", machine.isas);
  reader.texts("extensions", machine.extensions);
  reader.real("nominal_hz", machine.nominal_hz);
  reader.real("frequency_hz", machine.frequency_hz);
  reader.real("tsc_hz", machine.tsc_hz);
  reader.text("mode", machine.mode);
  reader.text("when", machine.when);
  reader.texts("notes", machine.notes);
  reader.objects("levels", [&](Reader& each) {
    model::Level level;
    each.text("name", level.name);
    each.integer("knee_bytes", level.knee);
    each.integer("claimed_bytes", level.claimed);
    each.integer("test_bytes", level.test_bytes);
    each.flag("found", level.found);
    machine.levels.push_back(std::move(level));
  });
  reader.objects("sweep", [&](Reader& each) {
    model::SweepPoint point;
    each.integer("bytes", point.bytes);
    each.real("latency_ns", point.latency_ns);
    each.real("bytes_per_second", point.bytes_per_second);
    machine.sweep.push_back(point);
  });
  reader.objects("roofs", [&](Reader& each) { machine.roofs.push_back(read_roof(each)); });
  read_constants(reader, "constants", machine.constants);
  read_constants(reader, "core", machine.core);
}

}  // namespace

Result<model::Machine> from_json(std::string_view text, const std::string& name) {
  const auto malformed = [&](const std::string& why) {
    return failure(ErrorKind::malformed, "read the machine file '" + printable(name) + "'", why,
                   "measure again with 'loft machine', or name another file");
  };
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return malformed("it is not JSON");
  if (!json.is_object()) return malformed("it is not a JSON object");
  Reader reader(json, "");
  std::string schema;
  reader.require("schema");
  reader.text("schema", schema);
  if (reader.failed()) return malformed(reader.error());
  if (schema != kSchema)
    return malformed("field 'schema' is '" + printable(schema) + "', not '" + std::string(kSchema) +
                     "'");
  model::Machine machine;
  read_machine(reader, machine);
  reader.object("topology", [&](Reader& inner) { read_topology(inner, machine.topology); });
  reader.object("system", [&](Reader& inner) { read_system(inner, machine.system); });
  if (reader.failed()) return malformed(reader.error());
  return machine;
}

}  // namespace loft::machine
