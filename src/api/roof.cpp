#include "loft/roof.hpp"

#include "machine/file.hpp"
#include "metric/load.hpp"
#include "roof/report.hpp"
#include "roof/run_file.hpp"

namespace loft::roofline {

struct Machine::Implementation {
  model::Machine machine;
};

namespace {

// Without a value the reason is handed out.
template <class T>
std::optional<T> value_or_why(Result<T> result, std::string& why) {
  if (result) return *std::move(result);
  why = to_string(result.error());
  return std::nullopt;
}

Scope public_scope(model::Scope scope) {
  switch (scope) {
    case model::Scope::run:
      return Scope::run;
    case model::Scope::thread:
      return Scope::thread;
    case model::Scope::function:
      return Scope::function;
    case model::Scope::slice:
      return Scope::slice;
    case model::Scope::loop:
      return Scope::loop;
    case model::Scope::region:
      break;
  }
  return Scope::region;
}

Origin public_origin(sample::Origin origin) {
  switch (origin) {
    case sample::Origin::counted:
      return Origin::counted;
    case sample::Origin::scaled:
      return Origin::scaled;
    case sample::Origin::modelled:
      return Origin::modelled;
    case sample::Origin::missing:
      break;
  }
  return Origin::missing;
}

std::vector<Roof> public_roofs(const model::Roofline& roofline) {
  std::vector<Roof> roofs;
  for (const model::Slope& slope : roofline.slopes)
    roofs.push_back(
        {slope.name, slope.bytes_per_second, true, slope.verdict == model::Verdict::noisy});
  for (const model::Ceiling& ceiling : roofline.ceilings)
    roofs.push_back(
        {ceiling.name, ceiling.flops_per_second, false, ceiling.verdict == model::Verdict::noisy});
  return roofs;
}

Point public_point(const model::RoofPoint& point) {
  const model::Subject& subject = point.subject;
  Point shown;
  shown.scope = public_scope(subject.scope);
  shown.name = subject.name;
  shown.binary = subject.binary;
  shown.tid = subject.tid;
  shown.start_seconds = subject.start;
  shown.end_seconds = subject.end;
  if (subject.work) {
    shown.flops = subject.work->flops();
    shown.bytes = subject.work->bytes;
  }
  if (subject.seconds > 0) {  // else no sample met it
    shown.seconds = subject.seconds;
    shown.share_of_time = subject.share_of_time;
  }
  shown.intensity = point.intensity;
  shown.ops_per_second = point.ops_per_second;
  shown.flops_per_second = point.flops_per_second;
  shown.bytes_per_second = point.bytes_per_second;
  if (point.limit)
    shown.limit = Limit{point.limit->name, point.limit->attainable, point.limit->share,
                        point.limit->is_bandwidth};
  shown.origin = public_origin(subject.origin);
  return shown;
}

Run public_run(const model::RoofReport& report) {
  Run run;
  run.command = report.command;
  run.exit_status = report.exit_status;
  run.wall_seconds = report.wall_seconds;
  run.cpu_seconds = report.cpu_seconds;
  const model::RoofKind work = report.chart.roofline.work;
  run.ops = work == model::RoofKind::flops     ? Ops::flops
            : work == model::RoofKind::integer ? Ops::integer
                                               : Ops::instructions;
  run.counts_from = report.counts_from;
  run.time_is_estimated = report.time_is_estimated;
  run.roofs = public_roofs(report.chart.roofline);
  for (const model::RoofPoint& point : report.chart.points)
    run.points.push_back(public_point(point));
  run.notes = report.notes;
  return run;
}

const roof::Wanted kWanted{.functions = {}, .threads = true, .ops = {}};

model::FlopsByWidth by_width(const Work& work) {
  model::FlopsByWidth widths;
  double& used = work.vector_bits == 0 || work.vector_bits >= 512 ? widths.bits512
                 : work.vector_bits >= 256                        ? widths.bits256
                 : work.vector_bits >= 128                        ? widths.bits128
                                                                  : widths.scalar;
  used = work.flops;
  return widths;
}

Result<Run> measure_run(const std::vector<std::string>& command, const MeasureOptions& options) {
  if (command.empty())
    return failure(ErrorKind::invalid_input, "measure a program", "no command was given");
  LOFT_TRY(const model::Machine machine, machine::load(options.machine_file));
  roof::Target target;
  target.command = command;
  target.file = options.recording;
  target.keep_going = options.runs_may_differ;
  LOFT_TRY(const auto library, metric::load_library({}));
  const auto counters = roof::WorkCounters::find(library, false);
  LOFT_TRY(const roof::Measured measured,
           counters && !options.all_loops ? roof::measure_by_counters(target, *counters, machine)
                                          : roof::measure_twice(target, machine));
  roof::Wanted wanted = kWanted;
  wanted.all_loops = options.all_loops;
  return public_run(roof::report_of(measured, machine, wanted));
}

Result<Run> read_run(const std::string& path, const std::string& machine_file) {
  LOFT_TRY(auto recording, source::Recording::open(path));
  if (roof::is_counted(*recording)) {
    LOFT_TRY(const auto machine, machine::load(machine_file));
    LOFT_TRY(auto counted, roof::read_counted(*recording));
    return public_run(roof::report_of(std::move(counted), machine, kWanted));
  }
  LOFT_TRY(roof::KeptRun kept, roof::read_run(*recording));
  if (!machine_file.empty()) {
    LOFT_TRY(kept.machine, machine::load(machine_file));
  }
  roof::Measured measured;
  LOFT_TRY(measured.native, roof::profile_of(std::move(kept.native), std::move(recording)));
  measured.counted = std::move(kept.counted);
  measured.kept = std::move(kept.analysis);
  return public_run(roof::report_of(measured, kept.machine, kWanted));
}

}  // namespace

std::optional<Run> measure(const std::vector<std::string>& command, std::string& why,
                           const MeasureOptions& options) {
  return value_or_why(measure_run(command, options), why);
}

std::optional<Run> read(const std::string& recording, std::string& why,
                        const std::string& machine_file) {
  return value_or_why(read_run(recording, machine_file), why);
}

Machine::Machine(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
Machine::~Machine() = default;

std::unique_ptr<Machine> Machine::load(const std::string& path, std::string& why) {
  auto loaded = value_or_why(machine::load(path), why);
  if (!loaded) return nullptr;
  return std::unique_ptr<Machine>(
      new Machine(std::make_unique<Implementation>(Implementation{*std::move(loaded)})));
}

const std::string& Machine::cpu() const { return implementation_->machine.cpu; }

std::vector<Roof> Machine::roofs(int threads, bool is_single) const {
  model::RooflineChoice choice;
  choice.threads = threads;
  choice.precision = is_single ? "sp" : "dp";
  return public_roofs(model::roofline_of(implementation_->machine, choice));
}

Point Machine::place(const Work& work) const {
  model::Subject subject;
  subject.name = work.name;
  subject.work.emplace();
  (work.is_single ? subject.work->flops_sp : subject.work->flops_dp) = work.flops;
  subject.work->bytes = work.bytes;
  subject.work->widths = by_width(work);
  subject.work->instructions.reset();
  subject.seconds = work.seconds;
  subject.concurrency = work.threads;
  subject.share_of_time = 1;
  const auto chart =
      model::place(implementation_->machine, {std::move(subject)}, 1, model::RoofKind::flops);
  return public_point(chart.points.front());
}

}  // namespace loft::roofline
