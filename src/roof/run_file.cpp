#include "roof/run_file.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "event/recording_schema.hpp"
#include "machine/file.hpp"
#include "roof/loop_time.hpp"
#include "roof/loop_work.hpp"
#include "roof/work_events.hpp"
#include "roof/work_json.hpp"

namespace loft::roof {
namespace {

using event::recording::kAnalysisSection;
using event::recording::kMachineSection;
using event::recording::kWorkSection;
using sample::Origin;

constexpr std::string_view kSchema = "loft.work/2";

const char* name_of(CountedBy by) {
  constexpr std::array kNames{"virtual", "perf_events", "none"};
  return kNames[static_cast<std::size_t>(by)];
}

Failure damaged(const std::string& path, const std::string& field) {
  return failure(ErrorKind::malformed, "read '" + path + "'",
                 "its section of counts is damaged at '" + field + "'", "record it again");
}

ordered_json json_of(const sample::EnergyUsed& used) {
  std::vector<std::pair<double, double>> over_time;
  for (const sample::EnergySeen& seen : used.over_time)
    over_time.emplace_back(seen.seconds, seen.joules);
  return {{"meter", used.meter},
          {"joules", used.joules},
          {"kind", to_string(used.origin)},
          {"over_time", over_time},
          {"gpu", used.is_gpu}};
}

sample::EnergyUsed read_energy(Fields& part) {
  sample::EnergyUsed used{
      part.get<std::string>("meter"), part.get<double>("joules"), {}, part.get<bool>("gpu")};
  for (const auto& [seconds, joules] :
       part.get<std::vector<std::pair<double, double>>>("over_time"))
    used.over_time.push_back({seconds, joules});
  if (part.get<std::string>("kind") == to_string(Origin::modelled)) used.origin = Origin::modelled;
  return used;
}

void read_native(Fields& fields, sample::RunCounts& native) {
  native.command = fields.get<std::vector<std::string>>("command");
  native.target = loft::join(native.command, " ");
  native.exit_status = fields.get<int>("exit");
  native.wall = Nanoseconds(fields.get<std::int64_t>("wall_ns"));
  sample::CountedEvent clock;
  clock.name = "task-clock";
  clock.unit = "ns";
  clock.total = sample::Count::exact(fields.get<std::uint64_t>("task_clock_ns"));
  native.events = {clock};
  native.notes = fields.get<std::vector<std::string>>("notes");
}

void read_counted(Fields& fields, CountedWork& counted) {
  const auto source = fields.get<std::string>("source");
  for (const auto by : {CountedBy::counters, CountedBy::nobody})
    if (source == name_of(by)) counted.by = by;
  const auto kind = fields.get<std::string>("kind");
  for (const auto origin : {Origin::scaled, Origin::modelled, Origin::missing})
    if (kind == to_string(origin)) counted.origin = origin;
  counted.bytes_are_of_memory =
      fields.find("bytes_are_of_memory") != nullptr && fields.get<bool>("bytes_are_of_memory");
  counted.total = fields.work("total");
}

const std::string* find_feature(const source::Recording& recording, std::uint32_t bit) {
  for (const auto& [number, bytes] : recording.metadata().other_features)
    if (number == bit) return &bytes;
  return nullptr;
}

std::vector<std::byte> to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string work_json(const sample::RunCounts& native, const CountedWork& counted) {
  ordered_json json{{"schema", kSchema},
                    {"command", native.command},
                    {"exit", native.exit_status},
                    {"wall_ns", native.wall.count()},
                    {"task_clock_ns", native.events.front().total.raw},
                    {"source", name_of(counted.by)},
                    {"kind", to_string(counted.origin)},
                    {"notes", native.notes},
                    {"energy", ordered_json::array()},
                    {"total", json_of(counted.total)},
                    {"threads", ordered_json::array()},
                    {"functions", ordered_json::array()}};
  if (counted.bytes_are_of_memory) json["bytes_are_of_memory"] = true;
  for (const sample::EnergyUsed& used : native.energy) json["energy"].push_back(json_of(used));
  for (const ThreadWork& thread : counted.threads)
    json["threads"].push_back(
        {{"tid", thread.tid}, {"comm", thread.name}, {"work", json_of(thread.work)}});
  for (const FunctionWork& function : counted.functions)
    json["functions"].push_back({{"name", function.key.name},
                                 {"binary", function.key.binary},
                                 {"work", json_of(function.work)}});
  for (const RegionWork& region : counted.regions)
    json["regions"].push_back({{"path", region.path},
                               {"tid", region.tid},
                               {"visits", region.visits},
                               {"seconds", region.seconds},
                               {"thread_seconds", region.thread_seconds},
                               {"work", json_of(region.work)}});
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Result<void> read_work(const std::string& where, const std::string& text, KeptRun& kept) {
  const auto json = ordered_json::parse(text, nullptr, false);
  Fields fields(json);
  if (fields.get<std::string>("schema") != kSchema) return damaged(where, "schema");
  read_native(fields, kept.native);
  read_counted(fields, kept.counted);
  std::string wrong = read_each(
      fields, "energy", [&](Fields& part) { kept.native.energy.push_back(read_energy(part)); });
  if (wrong.empty())
    wrong = read_each(fields, "threads", [&](Fields& part) {
      kept.counted.threads.push_back(
          {part.get<std::uint32_t>("tid"), part.get<std::string>("comm"), part.work("work")});
    });
  if (wrong.empty())
    wrong = read_each(fields, "functions", [&](Fields& part) {
      kept.counted.functions.push_back(
          {{part.get<std::string>("name"), part.get<std::string>("binary")}, part.work("work")});
    });
  if (wrong.empty() && fields.find("regions") != nullptr)
    wrong = read_each(fields, "regions", [&](Fields& part) {
      kept.counted.regions.push_back({part.get<std::vector<std::string>>("path"),
                                      part.get<std::uint32_t>("tid"),
                                      part.get<std::uint64_t>("visits"), part.amount("seconds"),
                                      part.amount("thread_seconds"), part.work("work")});
    });
  if (wrong.empty()) wrong = fields.wrong();
  if (!wrong.empty()) return damaged(where, wrong);
  return {};
}

Features features_of(const sample::RunCounts& native, const CountedWork& counted,
                     const model::Machine& machine, const KeptAnalysis& analysis) {
  return {{kWorkSection, to_bytes(work_json(native, counted))},
          {kMachineSection, to_bytes(machine::to_json(machine))},
          {kAnalysisSection, to_bytes(analysis_json(analysis))}};
}

Features loop_features(const sample::RunCounts& blocks) {
  std::vector<std::string> names;
  for (const sample::CountedEvent& event : blocks.events) names.push_back(event.name);
  const WorkColumns columns(names);
  if (!can_find_loops(names)) return {};
  double all = 0;
  for (const sample::BlockCounts& block : blocks.blocks)
    if (const auto work = columns.work_in(block.counts)) all += work->instructions.value_or(0);
  KeptAnalysis analysis;
  analysis.loops = loops_with_lines(blocks);
  std::erase_if(analysis.loops, [&](const LoopWork& loop) {
    return loop.work.instructions.value_or(0) < kLoopWorthAPoint * all;
  });
  return {{kAnalysisSection, to_bytes(analysis_json(analysis))}};
}

Result<std::optional<KeptAnalysis>> read_kept_analysis(const source::Recording& recording) {
  const std::string* text = find_feature(recording, kAnalysisSection);
  if (text == nullptr) return std::nullopt;
  LOFT_TRY(KeptAnalysis analysis, read_analysis(recording.summary().path, *text));
  return analysis;
}

bool is_kept_run(const source::Recording& recording) {
  return find_feature(recording, kWorkSection) != nullptr;
}

Result<KeptRun> read_run(const source::Recording& recording) {
  const std::string& path = recording.summary().path;
  const std::string* work = find_feature(recording, kWorkSection);
  const std::string* machine = find_feature(recording, kMachineSection);
  if (work == nullptr || machine == nullptr)
    return failure(ErrorKind::unsupported, "draw a roofline of '" + path + "'",
                   "it holds no operations and bytes",
                   "record it with: loft roof -o " + path + " -- CMD");
  KeptRun kept;
  LOFT_CHECK(read_work(path, *work, kept));
  LOFT_TRY(kept.machine, machine::from_json(*machine, path));
  LOFT_TRY(auto analysis, read_kept_analysis(recording));
  if (analysis) {
    kept.analysis = *std::move(analysis);
    kept.counted.loops = std::move(kept.analysis.loops);
  }
  return kept;
}

}  // namespace loft::roof
