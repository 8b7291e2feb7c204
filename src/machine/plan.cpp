#include "machine/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace loft::machine {
namespace {

constexpr double kCoreWindow = 0.0005;
constexpr double kSharedWindow = 0.001;

constexpr PeakOp kPeakOps[] = {PeakOp::add,   PeakOp::mul, PeakOp::muladd, PeakOp::fma,
                               PeakOp::mixed, PeakOp::div, PeakOp::sqrt};
// With several threads a quick run leaves out what one thread tells as well.
constexpr PeakOp kQuickOps[] = {PeakOp::add, PeakOp::mul, PeakOp::fma, PeakOp::mixed};
// Of narrower instructions than the widest it keeps what a program that uses them stands under.
constexpr PeakOp kQuickNarrowOps[] = {PeakOp::add, PeakOp::fma};

constexpr MemoryOp kCacheOps[] = {MemoryOp::load, MemoryOp::store, MemoryOp::load2_store1,
                                  MemoryOp::copy};
constexpr MemoryOp kDramOps[] = {MemoryOp::load, MemoryOp::store,    MemoryOp::load2_store1,
                                 MemoryOp::copy, MemoryOp::nt_store, MemoryOp::nt_copy};
constexpr int kStreams[] = {1, 2, 4, 6};

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

}  // namespace

const std::vector<Mix>& mixes() {
  static const std::vector<Mix> kMixes{{1, 0}, {3, 1}, {2, 1}, {3, 2}, {1, 1}, {1, 2}};
  return kMixes;
}

std::vector<Crew> crews_of(const model::Topology& topology, const CpuList& order,
                           int most_threads) {
  const int all = std::min(static_cast<int>(order.size()), most_threads);
  std::vector<Crew> crews;
  const auto first = [&](int count, bool quick) {
    Crew crew;
    for (int i = 0; i < count; ++i) {
      crew.members.push_back(i);
      crew.cpus.push_back(order[static_cast<std::size_t>(i)]);
    }
    crew.is_quick = quick;
    crews.push_back(std::move(crew));
  };
  int cores = 0;
  std::set<int> seen;
  std::vector<int> core_of;
  for (const int id : order)
    for (const model::Cpu& cpu : topology.cpus)
      if (cpu.id == id) {
        core_of.push_back(cpu.core);
        if (seen.insert(cpu.core).second) ++cores;
      }
  cores = std::min(cores, all);
  // Each count up to all; on large machines in steps that double.
  for (int count = 1; count <= all; ++count) {
    const bool marked = count == 1 || count == cores || count == all;
    if (marked || count <= 8 || (count & (count - 1)) == 0) first(count, marked);
  }
  // Both siblings of the first core, alone.
  for (int i = 1; i < all; ++i) {
    if (core_of[static_cast<std::size_t>(i)] != core_of[0] || (i == 1 && all == 2)) continue;
    crews.push_back({{0, i}, {order[0], order[static_cast<std::size_t>(i)]}, true});
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
        const auto plan_op = [&](PeakOp op) {
          // The top roof is worth trying every mix again, over the whole run.
          const bool top = op == PeakOp::mixed && input.fma && widest;
          for (const Mix mix : alone&& top ? mixes() : std::vector<Mix>{mix_of_isa[i]})
            add_peak(plan, input, bench, crew, input.isas[i], precision, op, mix);
        };
        if (alone || input.full)
          std::for_each(std::begin(kPeakOps), std::end(kPeakOps), plan_op);
        else if (widest)
          std::for_each(std::begin(kQuickOps), std::end(kQuickOps), plan_op);
        else
          std::for_each(std::begin(kQuickNarrowOps), std::end(kQuickNarrowOps), plan_op);
      }
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
        if (level + 1 != input.levels.size()) {
          for (const MemoryOp op : kCacheOps)
            add_bandwidth(plan, input, bench, crew, isa, op, level, 1);
          continue;
        }
        for (const MemoryOp op : kDramOps)
          for (const int streams : kStreams)
            if (has_op(isa, op) && streams * arrays_of(op) <= kMaxStreams &&
                (streams == 1 || widest || input.full))
              add_bandwidth(plan, input, bench, crew, isa, op, level, streams);
      }
    }
  }
}

}  // namespace loft::machine
