#include "machine/measure.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "base/clock.hpp"
#include "base/units.hpp"
#include "machine/conditions.hpp"
#include "machine/core_parameters.hpp"
#include "machine/core_probes.hpp"
#include "machine/cpu_identity.hpp"
#include "machine/knees.hpp"
#include "machine/latency.hpp"
#include "machine/plan.hpp"
#include "machine/priority.hpp"
#include "machine/sweep.hpp"
#include "machine/topology.hpp"

namespace loft::machine {
namespace {

// How much is enough. A trial is done when its best value came again in other rounds.
struct Effort {
  double seconds;  // for everything
  int least_rounds;
  int windows;  // per round and trial
  int sweep_passes;
};
constexpr Effort kQuick{30, 6, 10, 3};
constexpr Effort kFull{300, 20, 20, 5};

// The first round is short, so that everything has had one before time is up on a busy machine.
constexpr int kFirstWindows = 4;

constexpr std::uint64_t kLeastMemoryTest = 64u << 20;
constexpr std::uint64_t kMostMemoryTest = 1u << 30;
constexpr std::uint64_t kTooLittle = 8u << 20;

class Session {
 public:
  Session(const MeasureOptions& options, model::Machine& machine)
      : options_(options), machine_(machine), effort_(options.full ? kFull : kQuick) {}

  Result<void> run();

 private:
  Result<void> describe();
  Result<void> choose_cpus();
  Result<void> set_up();
  Result<void> find_levels();
  Result<std::vector<Mix>> search_mixes();
  Result<void> plan();
  void run_rounds();
  void collect_roofs();
  void collect_constants();
  void collect_transfers();
  void collect_notes();
  void collect_stream_probe();

  void progress(double share, std::string_view doing) const {
    if (options_.progress) options_.progress(share, doing);
  }
  void note(std::string text) { machine_.notes.push_back(std::move(text)); }
  [[nodiscard]] double elapsed() const { return to_seconds(now() - start_); }

  const MeasureOptions& options_;
  model::Machine& machine_;
  Effort effort_;
  Nanoseconds start_ = now();
  IsaSupport support_ = isa_support();
  CpuList order_;
  int most_threads_ = 1;
  std::uint64_t memory_test_ = 0;
  std::unique_ptr<Workbench> bench_;
  PlanInput input_;
  Rings rings_;
  Probes probes_;
  std::vector<CostPoint> extra_by_pages_;
  Plan plan_;
};

std::string date_now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Result<void> Session::describe() {
  LOFT_TRY(machine_, describe_machine(options_.root));
  machine_.mode = options_.full ? "full" : "quick";
  machine_.when = date_now();
  for (const Isa isa : support_.usable) machine_.isas.emplace_back(name_of(isa));
  for (const auto name : support_.extensions) machine_.extensions.emplace_back(name);
  const CpuIdentity identity = read_cpu_identity(options_.root);
  for (std::string& text : contradictions(identity, machine_.topology)) note(std::move(text));
  return {};
}

Result<void> Session::choose_cpus() {
  LOFT_TRY(const auto allowed, allowed_cpus());
  order_ = measuring_order(machine_.topology, allowed);
  if (order_.empty()) order_ = allowed;
  if (order_.size() < machine_.topology.cpus.size())
    note(fmt::format("only CPUs {} may be used: roofs of more threads are left out",
                     format_cpu_list(allowed)));
  if (!machine_.topology.offline.empty())
    note("CPUs " + format_cpu_list(machine_.topology.offline) + " are offline");
  if (machine_.topology.is_hybrid)
    note(fmt::format("cores of different kinds: one thread is measured on CPU {}", order_.front()));
  most_threads_ = static_cast<int>(order_.size());
  const double limit = cgroup_cpu_limit(options_.root);
  if (limit > 0 && limit < most_threads_) {
    most_threads_ = std::max(1, static_cast<int>(limit));
    note(fmt::format("the control group grants {:.2f} CPUs: roofs of more threads are left out",
                     limit));
  }
  order_.resize(static_cast<std::size_t>(most_threads_));
  return {};
}

Result<void> Session::set_up() {
  std::uint64_t last_level = 0;
  for (const model::Cache& cache : machine_.topology.caches)
    last_level = std::max(last_level, cache.bytes);
  const std::uint64_t wanted = std::clamp(4 * last_level, kLeastMemoryTest, kMostMemoryTest);
  // Rings, small pages and the seats of all threads come to about this many times the test size.
  const std::uint64_t shares = 4 + static_cast<std::uint64_t>(most_threads_) / 2;
  memory_test_ = std::min<std::uint64_t>(wanted, memory_allowance(options_.root) / shares);
  if (memory_test_ < kTooLittle)
    return failure(ErrorKind::limit, "measure this machine",
                   "too little memory is free for a test beyond the caches",
                   "free some memory, or raise the limit (ulimit -v, memory.max)");
  if (memory_test_ < wanted)
    note(fmt::format(
        "little memory: DRAM is tested with {} instead of {}, caches may hold part of it",
        with_binary_prefix(memory_test_), with_binary_prefix(wanted)));
  LOFT_TRY(bench_, Workbench::make(order_, memory_test_, options_.root));
  if (!bench_->team().is_pinned())
    note("threads could not be bound to CPUs: values are from wherever the kernel put them");
  if (bench_->huge_share() < 0.5)
    note("no huge pages were given: bandwidths and latencies include misses of the TLB");
  return {};
}

Result<void> Session::find_levels() {
  LOFT_TRY(machine_.sweep,
           sweep(*bench_, support_.usable.back(), memory_test_, effort_.sweep_passes));
  machine_.levels =
      levels_of(find_plateaus(machine_.sweep), machine_.topology.caches, memory_test_);
  for (const model::Level& level : machine_.levels) {
    if (!level.found)
      note(fmt::format("{} shows no plateau of its own in the sweep: its size is the claimed {}",
                       level.name, with_binary_prefix(level.claimed)));
    else if (level.claimed != 0 && level.knee < level.claimed / 4 * 3)
      note(fmt::format("{} is said to have {}, but its latency ends at {}", level.name,
                       with_binary_prefix(level.claimed), with_binary_prefix(level.knee)));
    else if (level.claimed != 0 && level.knee > level.claimed * 2)
      note(fmt::format("{} is said to have {}, but its latency reaches to {}", level.name,
                       with_binary_prefix(level.claimed), with_binary_prefix(level.knee)));
  }
  return {};
}

// Per ISA, in double precision, on one thread: pipes do not depend on what the numbers mean.
Result<std::vector<Mix>> Session::search_mixes() {
  std::vector<Mix> chosen;
  for (const Isa isa : support_.usable) {
    chosen.push_back(mixes().front());
    if (!support_.fma) continue;
    std::vector<Trial> trials;
    for (const Mix mix : mixes()) {
      TrialSetup setup;
      setup.kernel = peak_kernel(isa, Precision::dp, PeakOp::mixed, mix);
      setup.work = setup.kernel.flops();
      LOFT_TRY(auto trial, bench_->prepare(std::move(setup)));
      trials.push_back(std::move(trial));
    }
    for (int round = 0; round < 6; ++round)
      for (Trial& trial : trials) bench_->run_round(trial, 4, 0.0002);
    const auto best = std::max_element(
        trials.begin(), trials.end(),
        [](const Trial& a, const Trial& b) { return a.estimate.best() < b.estimate.best(); });
    chosen.back() = mixes()[static_cast<std::size_t>(best - trials.begin())];
  }
  return chosen;
}

Result<void> Session::plan() {
  input_.full = options_.full;
  input_.isas = support_.usable;
  input_.fma = support_.fma;
  input_.crews = crews_of(machine_.topology, order_, most_threads_);
  input_.levels = machine_.levels;
  input_.caches = machine_.topology.caches;
  LOFT_TRY(const auto chosen, search_mixes());
  plan_peaks(plan_, input_, *bench_, chosen);
  plan_bandwidths(plan_, input_, *bench_);
  plan_instructions(plan_, input_, *bench_);
  LOFT_TRY(rings_, plan_latencies(plan_, input_, *bench_, machine_.notes));
  LOFT_TRY(probes_, plan_core_probes(plan_, input_, rings_, *bench_));
  LOFT_TRY(extra_by_pages_, sweep_pages(*bench_, memory_test_, effort_.sweep_passes));
  // When time runs out in the first round, what others build on is there: latencies, then the roofs
  // of one thread.
  const auto rank = [](const Item& item) {
    return item.latency.empty() ? item.trial.setup.members.size() : 0;
  };
  std::ranges::stable_sort(plan_.items, {}, rank);
  return {};
}

// Round after round over all that are not yet sure of their best, until all are or time is up.
void Session::run_rounds() {
  const auto is_done = [&](const Item& item) {
    return item.trial.rounds >= effort_.least_rounds &&
           item.trial.estimate.is_confirmed(item.tolerance / 2, effort_.least_rounds / 2);
  };
  const double start = elapsed();
  for (;;) {
    bool all_done = true;
    for (Item& item : plan_.items) {
      if (is_done(item)) continue;
      all_done = false;
      // A first round for everything, even somewhat late: a roof without windows helps nobody.
      if (elapsed() > effort_.seconds * (item.trial.rounds == 0 ? 1.25 : 1)) continue;
      const int windows = item.trial.rounds == 0 ? kFirstWindows : effort_.windows;
      bench_->run_round(item.trial, windows, item.window_seconds);
      const double share = (elapsed() - start) / (effort_.seconds - start);
      progress(std::min(1.0, share), "rounds of windows");
    }
    if (all_done || elapsed() > effort_.seconds) return;
  }
}

void fill(model::Roof& roof, const Item& item, const Workbench& bench) {
  const Estimate& estimate = item.trial.estimate;
  const double ticks_per_second = bench.ticks_per_second();
  if (estimate.best() <= 0) {
    roof.why = "this machine was too busy to measure it in time";
    return;
  }
  roof.best = estimate.best() * ticks_per_second;
  roof.median = estimate.median() * ticks_per_second;
  roof.per_cycle = estimate.best() / bench.clock_of(item.trial);
  roof.spread = estimate.spread();
  roof.windows = estimate.windows();
  roof.disturbed = estimate.disturbed();
  roof.verdict = estimate.verdict(item.tolerance);
}

// Of kernels that differ in their streams or their mix alone the best stands for all.
void Session::collect_roofs() {
  for (const Item& item : plan_.items) {
    if (!item.latency.empty()) continue;
    model::Roof roof = item.roof;
    fill(roof, item, *bench_);
    const auto same =
        std::find_if(machine_.roofs.begin(), machine_.roofs.end(), [&](const model::Roof& each) {
          return each.kind == roof.kind && each.isa == roof.isa && each.op == roof.op &&
                 each.level == roof.level && each.precision == roof.precision &&
                 each.cpus == roof.cpus;
        });
    if (same == machine_.roofs.end())
      machine_.roofs.push_back(std::move(roof));
    else if (roof.best > same->best)
      *same = std::move(roof);
  }
  machine_.roofs.insert(machine_.roofs.end(), plan_.left_out.begin(), plan_.left_out.end());
}

model::Constant constant_of(const std::string& name, const std::string& unit,
                            const model::Roof& roof) {
  model::Constant constant;
  constant.name = name;
  constant.unit = unit;
  constant.value = roof.best;
  constant.median = roof.median;
  constant.spread = roof.spread;
  constant.verdict = roof.verdict;
  return constant;
}

void Session::collect_constants() {
  machine_.constants = constants_of(plan_, *bench_);
  const std::string widest(name_of(support_.usable.back()));
  for (const model::Roof& roof : machine_.roofs) {
    if (roof.threads != 1 || roof.isa != widest || roof.verdict == model::Verdict::unavailable)
      continue;
    if (roof.kind == model::RoofKind::bandwidth && roof.op == "load")
      machine_.constants.push_back(constant_of((roof.level == "DRAM" ? "Mem" : roof.level) + "_bw",
                                               "bytes_per_second", roof));
    if (roof.kind == model::RoofKind::flops && roof.op == "mixed")
      machine_.constants.push_back(constant_of("Peak_" + roof.precision, "flops_per_second", roof));
  }
}

model::Constant transfer_constant(const Transfer& transfer, const std::string& name,
                                  const Workbench& bench) {
  model::Constant line;
  line.name = name;
  line.unit = "cycles";
  line.value = line.cycles = bench.cycles_per_tick() / transfer.estimate.best();
  line.median = bench.cycles_per_tick() / transfer.estimate.median();
  line.ns = 1e9 / (transfer.estimate.best() * bench.ticks_per_second());
  line.spread = transfer.estimate.spread();
  line.verdict = transfer.estimate.verdict(kSharedTolerance);
  return line;
}

// From the first CPU to the second; of a full run to every other, where the slowest partner of each
// kind stands for its kind.
void Session::collect_transfers() {
  if (order_.size() < 2) {
    note("one CPU only: nothing to hand a cache line to");
    return;
  }
  const std::size_t partners = options_.full ? order_.size() - 1 : 1;
  const int windows = options_.full && partners == 1 ? 400 : 100;
  const auto neighbours = neighbours_of(machine_.topology, order_);
  std::map<std::string, std::pair<model::Constant, int>> slowest;
  for (std::size_t i = 1; i <= partners; ++i) {
    const Transfer transfer = measure_transfer(*bench_, 0, static_cast<int>(i), windows);
    auto constant = transfer_constant(transfer, transfer_name(neighbours[i]), *bench_);
    const auto [at, is_new] = slowest.try_emplace(constant.name, constant, order_[i]);
    if (!is_new && constant.value > at->second.first.value) at->second = {constant, order_[i]};
  }
  for (auto& [name, found] : slowest) {
    if (partners > 1)
      note(fmt::format("{} is that between CPUs {} and {}", name, order_.front(), found.second));
    machine_.constants.push_back(std::move(found.first));
  }
}

void Session::collect_notes() {
  machine_.tsc_hz = bench_->ticks_per_second();
  machine_.frequency_hz = bench_->cycles_per_tick() * bench_->ticks_per_second();
  const double share = static_cast<double>(bench_->disturbed()) /
                       static_cast<double>(std::max(1L, bench_->windows()));
  if (share > 0.02)
    note(fmt::format("{:.0f} % of {} windows were disturbed by others and repeated", share * 100,
                     bench_->windows()));
  note("Instr_L1_lat and Instr_TLB_lat are not measured: give them in the file of constants");
}

// What the probe of conditions reaches when nobody disturbs it: the best of many.
void Session::collect_stream_probe() {
  constexpr int kLooks = 200;
  auto probe = ConditionsProbe::make(machine_);
  if (!probe) return;
  for (int i = 0; i < kLooks; ++i) probe->look_beside(::getpid());
  if (!(probe->best_stream() > 0)) return;
  model::Constant constant;
  constant.name = kStreamProbe;
  constant.unit = "bytes_per_cycle";
  constant.value = constant.median = probe->best_stream();
  constant.verdict = model::Verdict::stable;
  constant.origin = "measured: the best of many short streams from memory";
  machine_.core.push_back(std::move(constant));
}

Result<void> Session::run() {
  progress(0, "topology");
  LOFT_CHECK(describe());
  LOFT_CHECK(choose_cpus());
  LOFT_CHECK(set_up());
  progress(0, "sweep over working sets");
  LOFT_CHECK(find_levels());
  LOFT_CHECK(plan());
  run_rounds();
  progress(1, "cache-line transfer");
  collect_roofs();
  collect_constants();
  collect_transfers();
  collect_notes();
  machine_.core = core_parameters(plan_, *bench_, machine_, extra_by_pages_);
  collect_stream_probe();
  return {};
}

}  // namespace

Result<model::Machine> measure(const MeasureOptions& options) {
  const Priority priority;
  model::Machine machine;
  LOFT_CHECK(Session(options, machine).run());
  return machine;
}

Result<model::Machine> describe_machine(const SystemRoot& root) {
  model::Machine machine;
  LOFT_TRY(machine.topology, read_topology(root));
  const CpuIdentity identity = read_cpu_identity(root);
  machine.identity = identity_key(identity, machine.topology, root);
  machine.system = read_system(identity, machine.topology, root);
  machine.cpu = identity.name;
  machine.hypervisor = identity.hypervisor;
  machine.nominal_hz = identity.nominal_hz;
#if defined(__x86_64__)
  machine.architecture = "x86_64";
#elif defined(__aarch64__)
  machine.architecture = "aarch64";
#endif
  return machine;
}

Result<std::string> this_machine(const SystemRoot& root) {
  LOFT_TRY(const auto machine, describe_machine(root));
  return machine.identity;
}

}  // namespace loft::machine
