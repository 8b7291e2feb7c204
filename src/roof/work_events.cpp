#include "roof/work_events.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "event/resolver.hpp"
#include "event/virtual_names.hpp"
#include "source/virtual/event_names.hpp"

namespace loft::roof {
namespace {

// A counter per block, thus nearly per branch; a search for the place to go where the target is not
// in the instruction. Fitted to compressors, interpreters, a database and sort on Zen 4; what is
// left out is the translation of code that runs once or twice.
constexpr double kPerBranch = 0.15e-9;
constexpr double kPerSearch = 2.8e-9;
// It never takes most of the time: where the estimate says so, the estimate is wrong.
constexpr double kLeastShare = 0.25;

struct WorkEvent {
  std::string_view name;
  bool is_work;  // otherwise of the engine
  void (*add)(Done& done, double count);
  bool is_needed = true;  // of work: without it there is none
};

void add_instructions(Done& done, double n) { *done.work.instructions += n; }
void add_bytes(Done& done, double n) { done.work.bytes += n; }
void add_single(Done& done, double n) { done.work.flops_sp += n; }
void add_double(Done& done, double n) { done.work.flops_dp += n; }
void add_fused(Done& done, double n) { done.work.flops_fma += n; }
// 80 bits wide, one number at a time.
void add_x87(Done& done, double n) {
  done.work.flops_x87 += n;
  done.work.widths.scalar += n;
}
void add_divisions(Done& done, double n) { done.work.flops_div += n; }
void add_roots(Done& done, double n) { done.work.flops_sqrt += n; }
void add_integer(Done& done, double n) { *done.work.int_ops += n; }
void add_branches(Done& done, double n) { done.engine.branches += n; }
void add_searches(Done& done, double n) { done.engine.searches += n; }

// Instructions of a width do one operation in each of their lanes. Widths matter as proportions.
template <double model::FlopsByWidth::*Width, int Lanes>
void add_width(Done& done, double n) {
  done.work.widths.*Width += n * Lanes;
}

using Widths = model::FlopsByWidth;
constexpr std::array<WorkEvent, 22> kEvents{{
    {"instructions", true, add_instructions},
    {"load_bytes", true, add_bytes},
    {"store_bytes", true, add_bytes},
    {"flops_sp", true, add_single},
    {"flops_dp", true, add_double},
    {"fp_scalar_sp", true, add_width<&Widths::scalar, 1>},
    {"fp_scalar_dp", true, add_width<&Widths::scalar, 1>},
    {"fp_128_sp", true, add_width<&Widths::bits128, 4>},
    {"fp_128_dp", true, add_width<&Widths::bits128, 2>},
    {"fp_256_sp", true, add_width<&Widths::bits256, 8>},
    {"fp_256_dp", true, add_width<&Widths::bits256, 4>},
    {"fp_512_sp", true, add_width<&Widths::bits512, 16>},
    {"fp_512_dp", true, add_width<&Widths::bits512, 8>},
    {"flops_fma", true, add_fused},
    {"class_x87_arith", true, add_x87},
    {"flops_div", true, add_divisions, false},
    {"flops_sqrt", true, add_roots, false},
    {"int_ops", true, add_integer, false},
    {"branches", false, add_branches},
    {"branches_indirect_jump", false, add_searches},
    {"branches_indirect_call", false, add_searches},
    {"branches_return", false, add_searches},
}};

std::string names_of(bool with_engine) {
  std::vector<std::string> names;
  for (const WorkEvent& event : kEvents)
    if (event.is_work || with_engine) names.emplace_back(event.name);
  return join(names, ",");
}

std::string_view bare(std::string_view name) {
  if (name.starts_with(event::kVirtualPrefix)) name.remove_prefix(event::kVirtualPrefix.size());
  return name;
}

}  // namespace

double EngineWork::seconds() const { return kPerBranch * branches + kPerSearch * searches; }

double without_engine(double seconds, double engine_seconds) {
  return std::max(seconds - engine_seconds, kLeastShare * seconds);
}

std::string work_event_names() { return names_of(false); }
std::string work_and_engine_event_names() {
  return names_of(true) + "," + std::string(kTakenEvent);
}

Result<std::vector<event::Event>> virtual_events(const std::string& names) {
  event::ResolverOptions options;
  options.virtual_names = source::virtual_pmu::event_names;
  options.plain_names = event::PlainNames::virtual_first;
  return event::Resolver(options).resolve_list(names);
}

WorkColumns::WorkColumns(std::span<const std::string> names) {
  for (const WorkEvent& event : kEvents) {
    const auto found = std::ranges::find(names, event.name, bare);
    auto& column = columns_.emplace_back();
    if (found != names.end()) column = static_cast<std::size_t>(found - names.begin());
    if (event.add == add_instructions) instructions_ = column;
    if (event.add == add_integer) int_ops_ = column;
    if (event.is_work && event.is_needed && !column) is_complete_ = false;
  }
}

Done WorkColumns::done_in(std::span<const std::uint64_t> counts) const {
  Done done;
  for (std::size_t i = 0; i < kEvents.size(); ++i)
    if (columns_[i] && *columns_[i] < counts.size())
      kEvents[i].add(done, static_cast<double>(counts[*columns_[i]]));
  if (!instructions_) done.work.instructions.reset();
  if (!int_ops_) done.work.int_ops.reset();
  return done;
}

std::optional<model::Work> WorkColumns::work_in(std::span<const sample::Count> counts) const {
  if (!is_complete_) return std::nullopt;
  Done done;
  bool has_instructions = true;
  for (std::size_t i = 0; i < kEvents.size(); ++i) {
    if (!kEvents[i].is_work) continue;
    const bool is_there =
        columns_[i] && *columns_[i] < counts.size() && counts[*columns_[i]].is_available();
    if (!is_there && kEvents[i].add == add_integer) done.work.int_ops.reset();
    if (!is_there && !kEvents[i].is_needed) continue;
    const bool is_instructions = columns_[i] == instructions_;
    if (!is_there && !is_instructions) return std::nullopt;
    if (is_there)
      kEvents[i].add(done, counts[*columns_[i]].value());
    else
      has_instructions = false;
  }
  if (!has_instructions) done.work.instructions.reset();
  return done.work;
}

}  // namespace loft::roof
