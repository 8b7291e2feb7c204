#include "cli/recording_flags.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::cli {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> kTypes = {"pmu", "epc", "mig", "fork", "sched"};

Json to_json(const RecordingFlags& flags) {
  Json json = Json::object();
  if (!flags.events.empty()) json["events"] = flags.events;
  if (flags.slice_ms > 0) json["slice_ms"] = flags.slice_ms;
  if (!flags.types.empty()) json["types"] = flags.types;
  if (flags.frequency_hz > 0) json["frequency_hz"] = flags.frequency_hz;
  if (flags.period > 0) json["period"] = flags.period;
  if (!flags.stacks.empty()) json["stacks"] = flags.stacks;
  if (!flags.ring.empty()) json["ring"] = flags.ring;
  return json;
}

// Throws what nlohmann throws where a value is of another kind.
RecordingFlags from_json(const Json& json) {
  RecordingFlags flags;
  flags.events = json.value("events", flags.events);
  flags.slice_ms = json.value("slice_ms", flags.slice_ms);
  flags.types = json.value("types", flags.types);
  flags.frequency_hz = json.value("frequency_hz", flags.frequency_hz);
  flags.period = json.value("period", flags.period);
  flags.stacks = json.value("stacks", flags.stacks);
  flags.ring = json.value("ring", flags.ring);
  return flags;
}

}  // namespace

void RecordingFlags::fill_from(const RecordingFlags& other) {
  if (events.empty()) events = other.events;
  if (slice_ms <= 0) slice_ms = other.slice_ms;
  if (types.empty()) types = other.types;
  if (frequency_hz == 0 && period == 0) {
    frequency_hz = other.frequency_hz;
    period = other.period;
  }
  if (stacks.empty()) stacks = other.stacks;
  if (ring.empty()) ring = other.ring;
}

void add_recording_flags(Command& command, RecordingFlags& flags) {
  command
      .add_option(
          "-e,--event,--events", flags.events,
          "events, or metrics, to count in every slice, comma-separated; a,b;c,d take turns "
          "(default: page-faults, cycles and instructions, those that are here)")
      ->allow_extra_args(false);
  command
      .add_option("-t,--slice", flags.slice_ms,
                  "a slice for every so many milliseconds that a thread ran (default: 10)")
      ->check(between(0.1, 1e6));
  command
      .add_option("--types", flags.types,
                  "what is recorded: pmu, epc, mig, fork, sched (default: all but epc)")
      ->delimiter(',')
      ->check(one_of(kTypes))
      ->allow_extra_args(false);
  auto frequency =
      command.add_option("-F,--frequency", flags.frequency_hz,
                         "sample where threads are, so often per second of their run time: the "
                         "events of -e, or beside slices a clock");
  frequency->check(between(1u, 100000u));
  command
      .add_option("-c,--count", flags.period,
                  "sample the events of -e, each time that one has happened so often, instead of "
                  "counting them in slices")
      ->check(between(std::uint64_t{1}, std::uint64_t{1} << 60))
      ->excludes(frequency);
  command
      .add_option("-g,--stacks", flags.stacks,
                  "with their call stacks: fp (frame pointers) or dwarf (copies of the stack)")
      ->check(one_of({"fp", "dwarf"}));
  command.add_option("--ring", flags.ring,
                     "the size of each buffer between kernel and loft, like 32M: for recordings "
                     "that lose records");
}

std::string environments_file(const std::string& directory) {
  return directory + "/environments.json";
}

Result<Environments> load_environments(const std::string& directory) {
  const std::string path = environments_file(directory);
  Environments all;
  if (!file_exists(path)) return all;
  LOFT_TRY(const std::string text, read_file(path));
  try {
    const Json json = Json::parse(text);
    for (const auto& [name, flags] : json.items()) all[name] = from_json(flags);
  } catch (const nlohmann::json::exception& error) {
    return failure(ErrorKind::invalid_input, "read the environments in '" + path + "'",
                   error.what(), "mend it, or remove it");
  }
  return all;
}

Result<void> save_environments(const Environments& all, const std::string& directory) {
  Json json = Json::object();
  for (const auto& [name, flags] : all) json[name] = to_json(flags);
  return replace_file(environments_file(directory),
                      json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string to_text(const RecordingFlags& flags) {
  std::string text;
  const auto add = [&](std::string_view flag, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", flag, value);
  };
  if (!flags.events.empty()) add("-e", join(flags.events, ","));
  if (flags.slice_ms > 0) add("-t", fmt::format("{}", flags.slice_ms));
  if (!flags.types.empty()) add("--types", join(flags.types, ","));
  if (flags.frequency_hz > 0) add("-F", std::to_string(flags.frequency_hz));
  if (flags.period > 0) add("-c", std::to_string(flags.period));
  if (!flags.stacks.empty()) add("-g", flags.stacks);
  if (!flags.ring.empty()) add("--ring", flags.ring);
  return text;
}

}  // namespace loft::cli
