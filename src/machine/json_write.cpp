// Writes machine files.
#include <cmath>
#include <nlohmann/json.hpp>

#include "machine/file.hpp"

namespace loft::machine {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const model::Topology& topology) {
  Json caches = Json::array();
  for (const model::Cache& cache : topology.caches)
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"bytes", cache.bytes},
                      {"line", cache.line},
                      {"ways", cache.ways},
                      {"instances", cache.instances},
                      {"shared_by", cache.shared_by}});
  Json cpus = Json::array();
  for (const model::Cpu& cpu : topology.cpus)
    cpus.push_back({{"id", cpu.id},
                    {"core", cpu.core},
                    {"package", cpu.package},
                    {"node", cpu.node},
                    {"capacity", cpu.capacity}});
  return {{"cpus", cpus},
          {"offline", topology.offline},
          {"packages", topology.packages},
          {"nodes", topology.nodes},
          {"threads_per_core", topology.threads_per_core},
          {"hybrid", topology.is_hybrid},
          {"caches", caches}};
}

// A number that is not there is null: never 0, which would be a claim.
Json number_or_null(double value, bool known) {
  return known && std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json to_json(const model::Roof& roof) {
  const bool known = roof.verdict != model::Verdict::unavailable;
  Json json = {{"kind", to_string(roof.kind)}};
  if (roof.kind == model::RoofKind::bandwidth) json["level"] = roof.level;
  json["isa"] = roof.isa;
  if (!roof.precision.empty()) json["precision"] = roof.precision;
  json["op"] = roof.op;
  if (!roof.mix.empty()) json["mix"] = roof.mix;
  if (roof.kind == model::RoofKind::bandwidth) {
    json["bytes"] = roof.bytes;
    json["streams"] = roof.streams;
  }
  json["threads"] = roof.threads;
  json["cpus"] = roof.cpus;
  json["best"] = number_or_null(roof.best, known);
  json["median"] = number_or_null(roof.median, known);
  json["per_cycle"] = number_or_null(roof.per_cycle, known);
  json["spread"] = number_or_null(roof.spread, known);
  json["windows"] = roof.windows;
  json["disturbed"] = roof.disturbed;
  json["verdict"] = to_string(roof.verdict);
  if (!known) json["why"] = roof.why;
  if (!roof.when.empty()) json["when"] = roof.when;
  return json;
}

// What the system does not tell is left out.
Json to_json(const model::System& system) {
  Json json = {{"cpu", system.cpu}};
  if (!system.microcode.empty()) json["microcode"] = system.microcode;
  if (!system.kernel.empty()) json["kernel"] = system.kernel;
  if (system.cpus > 0) json["cpus"] = system.cpus;
  return json;
}

Json to_json(const model::Constant& constant) {
  const bool known = constant.verdict != model::Verdict::unavailable;
  Json json = {{"value", number_or_null(constant.value, known)}, {"unit", constant.unit}};
  if (constant.unit == "cycles") {
    json["cycles"] = number_or_null(constant.cycles, known);
    json["ns"] = number_or_null(constant.ns, known);
  }
  json["median"] = number_or_null(constant.median, known);
  json["spread"] = number_or_null(constant.spread, known);
  json["verdict"] = to_string(constant.verdict);
  json["origin"] = constant.origin;
  if (!known) json["why"] = constant.why;
  return json;
}

Json to_json(const std::vector<model::Constant>& constants) {
  Json json = Json::object();
  for (const model::Constant& constant : constants) json[constant.name] = to_json(constant);
  return json;
}

Json levels_and_sweep(const model::Machine& machine) {
  Json levels = Json::array();
  for (const model::Level& level : machine.levels)
    levels.push_back({{"name", level.name},
                      {"knee_bytes", level.knee},
                      {"claimed_bytes", level.claimed},
                      {"test_bytes", level.test_bytes},
                      {"found", level.found}});
  Json sweep = Json::array();
  for (const model::SweepPoint& point : machine.sweep)
    sweep.push_back(
        {{"bytes", point.bytes},
         {"latency_ns", point.latency_ns},
         {"bytes_per_second", number_or_null(point.bytes_per_second, point.bytes_per_second > 0)}});
  return {{"levels", levels}, {"sweep", sweep}};
}

}  // namespace

std::string to_json(const model::Machine& machine) {
  Json json = {{"schema", kSchema},
               {"identity", machine.identity},
               {"cpu", machine.cpu},
               {"architecture", machine.architecture},
               {"hypervisor", machine.hypervisor},
               {"cores", machine.topology.cores},
               {"isas", machine.isas},
               {"extensions", machine.extensions},
               {"nominal_hz", number_or_null(machine.nominal_hz, machine.nominal_hz > 0)},
               {"frequency_hz", machine.frequency_hz},
               {"tsc_hz", machine.tsc_hz},
               {"mode", machine.mode},
               {"when", machine.when},
               {"system", to_json(machine.system)},
               {"notes", machine.notes},
               {"topology", to_json(machine.topology)}};
  json.update(levels_and_sweep(machine));
  json["roofs"] = Json::array();
  for (const model::Roof& roof : machine.roofs) json["roofs"].push_back(to_json(roof));
  json["constants"] = to_json(machine.constants);
  json["core"] = to_json(machine.core);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace loft::machine
