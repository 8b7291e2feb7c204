#include "machine/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>

namespace loft::machine {
namespace {

constexpr int kPeakSteps = 96;
constexpr double kCoreWindow = 0.0005;
constexpr double kSharedWindow = 0.001;

constexpr PeakOp kPeakOps[] = {PeakOp::add,   PeakOp::mul, PeakOp::muladd, PeakOp::fma,
                               PeakOp::mixed, PeakOp::div, PeakOp::sqrt};
// With several threads a quick run leaves out what one thread tells as well.
constexpr PeakOp kQuickOps[] = {PeakOp::add,   PeakOp::mul, PeakOp::fma,
                                PeakOp::mixed, PeakOp::div, PeakOp::sqrt};
// Of narrower instructions than the widest it keeps what a program that uses them stands under.
constexpr PeakOp kQuickNarrowOps[] = {PeakOp::add, PeakOp::fma, PeakOp::div, PeakOp::sqrt};

// Between two numbers of threads that are measured whole, the peaks that the clock shows in.
constexpr PeakOp kBetweenOps[] = {PeakOp::fma, PeakOp::mixed};
constexpr PeakOp kBetweenAdds[] = {PeakOp::add};

constexpr MemoryOp kCacheOps[] = {MemoryOp::load, MemoryOp::store, MemoryOp::load2_store1,
                                  MemoryOp::copy};
constexpr MemoryOp kDramOps[] = {MemoryOp::load, MemoryOp::store,    MemoryOp::load2_store1,
                                 MemoryOp::copy, MemoryOp::nt_store, MemoryOp::nt_copy};
// And of each level the kernels that may be its roof.
constexpr MemoryOp kBetweenCacheOps[] = {MemoryOp::load, MemoryOp::load2_store1, MemoryOp::copy};
constexpr MemoryOp kBetweenDramOps[] = {MemoryOp::load, MemoryOp::copy, MemoryOp::nt_copy};
constexpr int kStreams[] = {1, 2, 4, 6};
constexpr int kOneStream[] = {1};

void add(Plan& plan, const Workbench& bench, TrialSetup setup, model::Roof roof, double tolerance,
         double window) {
  auto trial = bench.prepare(std::move(setup));
  if (!trial) {
    roof.why = trial.error().why;
    plan.left_out.push_back(std::move(roof));
    return;
  }
  plan.items.push_back({*std::move(trial), tolerance, window, std::move(roof), {}});
}

void add_peak(Plan& plan, const PlanInput& input, const Workbench& bench, const Crew& crew, Isa isa,
              Precision precision, PeakOp op, Mix mix) {
  model::Roof roof;
  roof.kind = model::RoofKind::flops;
  roof.isa = name_of(isa);
  roof.precision = name_of(precision);
  roof.op = name_of(op);
  roof.threads = static_cast<int>(crew.members.size());
  roof.cpus = crew.cpus;
  if (op == PeakOp::mixed) roof.mix = fmt::format("{} fma : {} add", mix.fma, mix.add);
  if (!input.fma && (op == PeakOp::fma || op == PeakOp::mixed)) {
    roof.mix.clear();
    roof.why = "this CPU has no fused multiply-add";
    plan.left_out.push_back(std::move(roof));
    return;
  }
  TrialSetup setup;
  setup.kernel = peak_kernel(isa, precision, op, mix);
  setup.work = setup.kernel.flops();
  setup.members = crew.members;
  add(plan, bench, std::move(setup), std::move(roof), kPrivateTolerance, kCoreWindow);
}

const model::Cache* cache_of(const PlanInput& input, const std::string& level) {
  for (const model::Cache& cache : input.caches)
    if (cache.type != "Instruction" && fmt::format("L{}", cache.level) == level) return &cache;
  return nullptr;
}

// Threads that share a level share its size too, as long as each part stays beyond the level
// before.
std::size_t bytes_per_thread(const PlanInput& input, std::size_t index, std::size_t threads) {
  const model::Level& level = input.levels[index];
  const model::Cache* cache = cache_of(input, level.name);
  const bool is_memory = index + 1 == input.levels.size();
  std::size_t sharers = is_memory ? threads : 1;
  if (cache != nullptr)
    sharers =
        std::min<std::size_t>(threads, static_cast<std::size_t>(std::max(1, cache->shared_by)));
  std::uint64_t least = 4096;
  if (index > 0) least = input.levels[index - 1].knee * (is_memory ? 4 : 3) / (is_memory ? 1 : 2);
  const std::uint64_t most =
      threads == 1 ? level.test_bytes : std::max(level.test_bytes / 2, std::uint64_t{4096});
  return std::min(std::max<std::uint64_t>(level.test_bytes / sharers, least),
                  is_memory ? most : std::max(level.test_bytes, least));
}

bool is_shared(const PlanInput& input, const std::string& level, int threads_per_core) {
  const model::Cache* cache = cache_of(input, level);
  return cache == nullptr ? level != "L1" : cache->shared_by > threads_per_core;
}

void add_bandwidth(Plan& plan, const PlanInput& input, const Workbench& bench, const Crew& crew,
                   Isa isa, MemoryOp op, std::size_t index, int streams) {
  const model::Level& level = input.levels[index];
  model::Roof roof;
  roof.kind = model::RoofKind::bandwidth;
  roof.isa = name_of(isa);
  roof.op = name_of(op);
  roof.level = level.name;
  roof.streams = streams;
  roof.threads = static_cast<int>(crew.members.size());
  roof.cpus = crew.cpus;
  TrialSetup setup;
  setup.kernel = memory_kernel(isa, op, streams);
  setup.work = setup.kernel.bytes();
  setup.members = crew.members;
  setup.bytes = bytes_per_thread(input, index, crew.members.size());
  const bool shared = is_shared(input, level.name, 2);
  const std::size_t before = plan.items.size();
  add(plan, bench, std::move(setup), std::move(roof), shared ? kSharedTolerance : kPrivateTolerance,
      shared ? kSharedWindow : kCoreWindow);
  if (plan.items.size() == before) return;
  Item& item = plan.items.back();
  item.roof.bytes = item.trial.span * static_cast<std::uint64_t>(item.trial.setup.kernel.streams);
}

bool has_op(Isa isa, MemoryOp op) {
  const bool past_caches = op == MemoryOp::nt_store || op == MemoryOp::nt_copy;
  // Scalar and arm64 kernels have no vector store past the caches.
  return !past_caches || isa == Isa::sse || isa == Isa::avx2 || isa == Isa::avx512;
}

std::span<const PeakOp> peaks_for(const PlanInput& input, const Crew& crew, Precision precision,
                                  bool widest) {
  if (crew.extent == Extent::scattered) return {};
  if (crew.members.size() == 1 || input.full) return kPeakOps;
  if (crew.extent == Extent::whole)
    return widest ? std::span<const PeakOp>(kQuickOps) : std::span<const PeakOp>(kQuickNarrowOps);
  if (!widest || precision == Precision::sp) return {};
  return input.fma ? std::span<const PeakOp>(kBetweenOps) : std::span<const PeakOp>(kBetweenAdds);
}

std::span<const MemoryOp> walks_for(const PlanInput& input, const Crew& crew, std::size_t level) {
  const bool is_memory = level + 1 == input.levels.size();
  if (crew.extent == Extent::scattered && !is_shared(input, input.levels[level].name, 2)) return {};
  if (crew.extent == Extent::whole || input.full)
    return is_memory ? std::span<const MemoryOp>(kDramOps) : std::span<const MemoryOp>(kCacheOps);
  return is_memory ? std::span<const MemoryOp>(kBetweenDramOps)
                   : std::span<const MemoryOp>(kBetweenCacheOps);
}

// The CPUs that may run together, in the order of measuring, and what they are part of.
struct Places {
  std::vector<model::Cpu> cpus;
  int cores = 0;          // the first so many CPUs are on cores of their own
  int nodes = 0;          // memory nodes among them
  int cores_of_node = 0;  // of the first one
};

Places places_of(const model::Topology& topology, const CpuList& order, int most_threads) {
  Places places;
  std::set<int> cores;
  std::set<int> nodes;
  for (const int id : order) {
    const auto cpu = std::ranges::find(topology.cpus, id, &model::Cpu::id);
    if (static_cast<int>(places.cpus.size()) == most_threads) break;
    // A CPU that the topology does not know is a core of its own, as far as anybody can say.
    model::Cpu place;
    place.id = id;
    place.core = -1 - id;
    places.cpus.push_back(cpu == topology.cpus.end() ? place : *cpu);
    const model::Cpu& added = places.cpus.back();
    nodes.insert(added.node);
    if (cores.insert(added.core).second && added.node == places.cpus.front().node)
      ++places.cores_of_node;
  }
  places.cores = static_cast<int>(cores.size());
  places.nodes = static_cast<int>(nodes.size());
  return places;
}

Crew crew_of(const Places& places, const std::vector<int>& members, bool is_quick, Extent extent) {
  Crew crew{members, {}, is_quick, extent};
  for (const int member : members)
    crew.cpus.push_back(places.cpus[static_cast<std::size_t>(member)].id);
  return crew;
}

// The first `count` cores when each node gives one in turn.
std::vector<int> scattered(const Places& places, int count) {
  std::map<int, std::vector<int>> of_node;
  for (int i = 0; i < places.cores; ++i)
    of_node[places.cpus[static_cast<std::size_t>(i)].node].push_back(i);
  std::vector<int> members;
  for (std::size_t turn = 0; static_cast<int>(members.size()) < count; ++turn)
    for (const auto& [node, cores] : of_node)
      if (turn < cores.size() && static_cast<int>(members.size()) < count)
        members.push_back(cores[turn]);
  return members;
}

}  // namespace

const std::vector<Mix>& mixes() {
  static const std::vector<Mix> kMixes{{1, 0}, {3, 1}, {2, 1}, {3, 2}, {1, 1}, {1, 2}};
  return kMixes;
}

std::vector<Crew> crews_of(const model::Topology& topology, const CpuList& order,
                           int most_threads) {
  const Places places = places_of(topology, order, most_threads);
  const int all = static_cast<int>(places.cpus.size());
  std::vector<Crew> crews;
  for (int count = 1; count <= all; ++count) {
    const bool is_whole = count == 1 || count == places.cores || count == all;
    const bool is_doubling = (count & (count - 1)) == 0;
    const bool is_node = count < places.cores && count % places.cores_of_node == 0;
    const bool is_quick = is_whole || (is_doubling && count < places.cores) || is_node;
    if (!is_quick && count > 8 && !is_doubling) continue;
    std::vector<int> members(static_cast<std::size_t>(count));
    std::iota(members.begin(), members.end(), 0);
    crews.push_back(crew_of(places, members, is_quick, is_whole ? Extent::whole : Extent::between));
  }
  for (int count = places.nodes; count < places.cores && places.nodes > 1; count *= 2)
    crews.push_back(crew_of(places, scattered(places, count), true, Extent::scattered));
  // Both siblings of the first core, alone.
  for (int i = 1; i < all; ++i) {
    if (places.cpus[static_cast<std::size_t>(i)].core != places.cpus[0].core || all == 2) continue;
    crews.push_back(crew_of(places, {0, i}, true, Extent::whole));
    break;
  }
  return crews;
}

void plan_peaks(Plan& plan, const PlanInput& input, const Workbench& bench,
                const std::vector<Mix>& mix_of_isa) {
  for (const Crew& crew : input.crews) {
    if (!input.full && !crew.is_quick) continue;
    const bool alone = crew.members.size() == 1;
    for (std::size_t i = 0; i < input.isas.size(); ++i) {
      const bool widest = i + 1 == input.isas.size();
      for (const Precision precision : {Precision::dp, Precision::sp}) {
        for (const PeakOp op : peaks_for(input, crew, precision, widest)) {
          // The top roof is worth trying every mix again, over the whole run.
          const bool top = op == PeakOp::mixed && input.fma && widest;
          for (const Mix mix : alone&& top ? mixes() : std::vector<Mix>{mix_of_isa[i]})
            add_peak(plan, input, bench, crew, input.isas[i], precision, op, mix);
        }
      }
    }
  }
}

// None has more of a kind than narrow cores have ports for it, in proportion.
std::vector<IssueMix> issue_mixes() {
  const Step add{Op::int_add};
  const Step vector{Op::vector_int_add};
  const Step load{Op::int_load};
  const auto mix = [](std::string name, const std::vector<Step>& pattern) {
    return IssueMix{std::move(name), independent_kernel(Isa::scalar, 1, pattern, 192)};
  };
  return {mix("1 integer", {add}), mix("2 integer : 1 vector", {add, add, vector}),
          mix("3 integer : 2 vector : 1 load", {add, vector, add, load, add, vector}),
          mix("4 integer : 2 vector : 2 load", {add, vector, add, load, add, vector, add, load})};
}

void plan_instructions(Plan& plan, const PlanInput& input, const Workbench& bench) {
  for (const Crew& crew : input.crews) {
    if ((!input.full && !crew.is_quick) || crew.extent == Extent::scattered) continue;
    const auto add_kind = [&](model::RoofKind kind, Isa isa, const char* op, Kernel kernel,
                              double work, const std::string& mix) {
      model::Roof roof;
      roof.kind = kind;
      roof.isa = name_of(isa);
      roof.op = op;
      roof.mix = mix;
      if (kind == model::RoofKind::integer) roof.precision = "int64";
      roof.threads = static_cast<int>(crew.members.size());
      roof.cpus = crew.cpus;
      TrialSetup setup;
      setup.kernel = std::move(kernel);
      setup.work = work;
      setup.members = crew.members;
      add(plan, bench, std::move(setup), std::move(roof), kPrivateTolerance, kCoreWindow);
    };
    // The loop's own two instructions are issued too.
    for (IssueMix& mix : issue_mixes()) {
      const double work = static_cast<double>(mix.kernel.body.size()) + 2;
      add_kind(model::RoofKind::instructions, Isa::scalar, "mixed", std::move(mix.kernel), work,
               mix.name);
    }
    if (crew.extent == Extent::between && !input.full) continue;
    for (const Isa isa : input.isas) {
      const bool scalar = isa == Isa::scalar;
      const Kernel sums =
          independent_kernel(isa, 0, {{scalar ? Op::int_add : Op::vector_int_add}}, kPeakSteps);
      const double lanes = scalar ? 1 : static_cast<double>(sums.vector_bytes()) / 8;
      add_kind(model::RoofKind::integer, isa, "add", sums,
               static_cast<double>(sums.body.size()) * lanes, "");
      if (!scalar) continue;
      const Kernel products = independent_kernel(isa, 0, {{Op::int_mul}}, kPeakSteps);
      add_kind(model::RoofKind::integer, isa, "mul", products,
               static_cast<double>(products.body.size()), "");
    }
  }
}

void plan_bandwidths(Plan& plan, const PlanInput& input, const Workbench& bench) {
  for (const Crew& crew : input.crews) {
    if (!input.full && !crew.is_quick) continue;
    const bool alone = crew.members.size() == 1;
    for (std::size_t i = 0; i < input.isas.size(); ++i) {
      const Isa isa = input.isas[i];
      const bool widest = i + 1 == input.isas.size();
      if (!alone && !input.full && !widest) continue;
      for (std::size_t level = 0; level < input.levels.size(); ++level) {
        const bool is_memory = level + 1 == input.levels.size();
        for (const MemoryOp op : walks_for(input, crew, level))
          for (const int streams :
               is_memory ? std::span<const int>(kStreams) : std::span<const int>(kOneStream))
            if (has_op(isa, op) && streams * arrays_of(op) <= kMaxStreams &&
                (streams == 1 || widest || input.full))
              add_bandwidth(plan, input, bench, crew, isa, op, level, streams);
      }
    }
  }
}

}  // namespace loft::machine
