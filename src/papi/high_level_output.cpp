#include "papi/high_level_output.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "papi/functions.h"

namespace loft::papi {
namespace {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

// A plain number, or with the values that PAPI_hl_read saw.
std::string value_json(const Visit& visit, std::size_t event) {
  const std::string whole = fmt::format("\"{}\"", visit.counts[event]);
  if (visit.reads.empty()) return whole;
  std::string json = fmt::format("{{\"region_value\":{}", whole);
  for (std::size_t i = 0; i < visit.reads.size(); ++i)
    if (event < visit.reads[i].size())
      json += fmt::format(",\"read_{}\":\"{}\"", i + 1, visit.reads[i][event]);
  return json + "}";
}

std::string visit_json(const Visit& visit, const std::vector<std::string>& events) {
  std::string json = fmt::format(
      "{{\"name\":{},\"parent_region_id\":\"{}\",\"cycles\":\"{}\",\"real_time_nsec\":\"{}\"",
      json_text(visit.name), visit.parent, visit.cycles, visit.nanoseconds);
  for (std::size_t i = 0; i < events.size() && i < visit.counts.size(); ++i)
    json += fmt::format(",{}:{}", json_text(events[i]), value_json(visit, i));
  return json + "}";
}

std::string thread_json(const std::vector<Visit>& visits, const std::vector<std::string>& events) {
  std::string json;
  for (std::size_t i = 0; i < visits.size(); ++i)
    if (visits[i].is_complete)
      json +=
          fmt::format("{}\"{}\":{}", json.empty() ? "" : ",\n", i, visit_json(visits[i], events));
  return fmt::format("{{\"regions\":{{{}}}}}", json);
}

// Of MPI's starters; 0 where there is none.
unsigned long rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(name)) return std::strtoul(value, nullptr, 10);
  return 0;
}

}  // namespace

std::string to_json(const std::vector<std::vector<Visit>>& threads,
                    const std::vector<std::string>& events) {
  std::string definitions, parts;
  for (const std::string& event : events)
    definitions += fmt::format("{}{}:{{\"component\":\"loft\",\"type\":\"delta\"}}",
                               definitions.empty() ? "" : ",", json_text(event));
  for (std::size_t i = 0; i < threads.size(); ++i)
    parts += fmt::format("{}\"{}\":{}", i == 0 ? "" : ",\n", i, thread_json(threads[i], events));
  const PAPI_hw_info_t* machine = PAPI_get_hardware_info();
  return fmt::format(
      "{{\"papi_version\":\"7.0.0.0\",\"cpu_info\":{},\"max_cpu_rate_mhz\":\"{}\","
      "\"min_cpu_rate_mhz\":\"{}\",\n\"event_definitions\":{{{}}},\n\"threads\":{{{}}}}}\n",
      json_text(machine == nullptr ? "" : machine->model_string),
      machine == nullptr ? 0 : machine->cpu_max_mhz, machine == nullptr ? 0 : machine->cpu_min_mhz,
      definitions, parts);
}

bool write_visits(const std::vector<std::vector<Visit>>& threads,
                  const std::vector<std::string>& events) {
  const char* chosen = std::getenv("PAPI_OUTPUT_DIRECTORY");
  const std::filesystem::path folder =
      std::filesystem::path(chosen != nullptr ? chosen : ".") / "papi_hl_output";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return false;
  std::ofstream file(folder / fmt::format("rank_{:06}.json", rank()));
  file << to_json(threads, events);
  file.close();
  return !file.fail();
}

}  // namespace loft::papi
