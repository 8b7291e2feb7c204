#include "cli/roof_file.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/roof_passes.hpp"
#include "machine/file.hpp"

namespace loft::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kSchema = "loft.work/1";

ordered_json counts_json(const std::vector<sample::Count>& counts) {
  ordered_json values = ordered_json::array();
  for (const sample::Count& count : counts)
    values.push_back(count.is_available() ? ordered_json(count.raw) : ordered_json(nullptr));
  return values;
}

// How the totals came about: that of the bytes, which rest on the most.
std::string kind_of(const sample::RunCounts& counted) {
  for (const sample::CountedEvent& event : counted.events)
    if (event.name == "load_bytes") return to_string(event.total.origin);
  return to_string(sample::Origin::missing);
}

// Reads fields of a text that anybody may have written; the first that is wrong is kept.
class Fields {
 public:
  explicit Fields(const ordered_json& json) : json_(json) {}

  template <class T>
  T get(const char* name) {
    const auto found = json_.is_object() ? json_.find(name) : json_.end();
    if (json_.is_object() && found != json_.end()) {
      try {
        return found->get<T>();
      } catch (const nlohmann::json::exception&) {
      }
    }
    if (wrong_.empty()) wrong_ = name;
    return T{};
  }

  std::vector<sample::Count> counts(const char* name, std::size_t expected) {
    std::vector<sample::Count> counts;
    for (const ordered_json& value : get<ordered_json>(name))
      counts.push_back(value.is_number_unsigned()
                           ? sample::Count::exact(value.get<std::uint64_t>())
                           : sample::Count::missing("not counted in the recorded run"));
    if (counts.size() != expected && wrong_.empty()) wrong_ = name;
    return counts;
  }

  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  const ordered_json& json_;
  std::string wrong_;
};

Failure damaged(const std::string& path, const std::string& field) {
  return failure(ErrorKind::malformed, "read '" + path + "'",
                 "its section of counts is damaged at '" + field + "'", "record it again");
}

Result<void> read_work(const std::string& path, const std::string& text, KeptRun& kept) {
  const auto json = ordered_json::parse(text, nullptr, false);
  Fields fields(json);
  if (fields.get<std::string>("schema") != kSchema) return damaged(path, "schema");
  kept.native.command = fields.get<std::vector<std::string>>("command");
  kept.native.target = join(kept.native.command, " ");
  kept.native.exit_status = fields.get<int>("exit");
  kept.native.wall = Nanoseconds(fields.get<std::int64_t>("wall_ns"));
  sample::CountedEvent clock;
  clock.name = "task-clock";
  clock.unit = "ns";
  clock.total = sample::Count::exact(fields.get<std::uint64_t>("task_clock_ns"));
  kept.native.events = {clock};
  const auto source = sample::source_named(fields.get<std::string>("source"));
  if (!source) return damaged(path, "source");
  kept.counted.source = *source;
  const auto kind = fields.get<std::string>("kind");
  kept.native.notes = fields.get<std::vector<std::string>>("notes");
  for (const ordered_json& each : fields.get<ordered_json>("energy")) {
    Fields part(each);
    sample::EnergyUsed used{
        part.get<std::string>("meter"), part.get<double>("joules"), {}, part.get<bool>("gpu")};
    for (const auto& [seconds, joules] :
         part.get<std::vector<std::pair<double, double>>>("over_time"))
      used.over_time.push_back({seconds, joules});
    // Files from before meters were told apart have no kind.
    if (each.is_object() && each.contains("kind") &&
        each["kind"] == to_string(sample::Origin::modelled))
      used.origin = sample::Origin::modelled;
    if (!part.wrong().empty()) return damaged(path, part.wrong());
    kept.native.energy.push_back(std::move(used));
  }
  const auto names = fields.get<std::vector<std::string>>("events");
  if (join(names, ",") != kRoofEvents) return damaged(path, "events");
  const auto totals = fields.counts("totals", names.size());
  for (std::size_t i = 0; i < names.size() && i < totals.size(); ++i) {
    sample::CountedEvent event;
    event.name = names[i];
    event.total = totals[i];
    for (const auto origin : {sample::Origin::scaled, sample::Origin::modelled})
      if (event.total.is_available() && kind == to_string(origin)) event.total.origin = origin;
    kept.counted.events.push_back(std::move(event));
  }
  for (const ordered_json& each : fields.get<ordered_json>("threads")) {
    Fields part(each);
    kept.counted.threads.push_back({part.get<pid_t>("pid"), part.get<pid_t>("tid"),
                                    part.get<std::string>("comm"),
                                    part.counts("counts", names.size())});
    if (!part.wrong().empty()) return damaged(path, part.wrong());
  }
  for (const ordered_json& each : fields.get<ordered_json>("functions")) {
    Fields part(each);
    kept.counted.functions.push_back({part.get<std::string>("name"),
                                      part.get<std::string>("binary"),
                                      part.counts("counts", names.size())});
    if (!part.wrong().empty()) return damaged(path, part.wrong());
  }
  if (!fields.wrong().empty()) return damaged(path, fields.wrong());
  return {};
}

const std::string* find_feature(const source::Recording& recording, std::uint32_t bit) {
  for (const auto& [number, bytes] : recording.metadata().other_features)
    if (number == bit) return &bytes;
  return nullptr;
}

}  // namespace

std::string work_json(const sample::RunCounts& native, const sample::RunCounts& counted) {
  ordered_json json{{"schema", kSchema},
                    {"command", native.command},
                    {"exit", native.exit_status},
                    {"wall_ns", native.wall.count()},
                    {"task_clock_ns", native.events.front().total.raw},
                    {"source", to_string(counted.source)},
                    {"kind", kind_of(counted)},
                    {"notes", native.notes},
                    {"energy", ordered_json::array()},
                    {"events", ordered_json::array()},
                    {"totals", ordered_json::array()},
                    {"threads", ordered_json::array()},
                    {"functions", ordered_json::array()}};
  for (const sample::EnergyUsed& used : native.energy) {
    std::vector<std::pair<double, double>> over_time;
    for (const sample::EnergySeen& seen : used.over_time)
      over_time.emplace_back(seen.seconds, seen.joules);
    json["energy"].push_back({{"meter", used.meter},
                              {"joules", used.joules},
                              {"kind", to_string(used.origin)},
                              {"over_time", over_time},
                              {"gpu", used.is_gpu}});
  }
  for (const sample::CountedEvent& event : counted.events) {
    json["events"].push_back(event.name);
    json["totals"].push_back(counts_json({event.total}).front());
  }
  for (const sample::ThreadCounts& thread : counted.threads)
    json["threads"].push_back({{"pid", thread.pid},
                               {"tid", thread.tid},
                               {"comm", thread.comm},
                               {"counts", counts_json(thread.counts)}});
  for (const sample::FunctionCounts& function : counted.functions)
    json["functions"].push_back({{"name", function.name},
                                 {"binary", function.binary},
                                 {"counts", counts_json(function.counts)}});
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::vector<std::byte> to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Result<KeptRun> read_run(const std::string& path) {
  KeptRun kept;
  LOFT_TRY(kept.recording, source::Recording::open(path));
  const std::string* work = find_feature(*kept.recording, kWorkFeature);
  const std::string* machine = find_feature(*kept.recording, kMachineFeature);
  if (work == nullptr || machine == nullptr)
    return failure(ErrorKind::unsupported, "draw a roofline of '" + path + "'",
                   "it holds no operations and bytes",
                   "record it with: loft roof -o " + path + " -- CMD");
  LOFT_CHECK(read_work(path, *work, kept));
  LOFT_TRY(kept.machine, machine::from_json(*machine, path));
  return kept;
}

}  // namespace loft::cli
