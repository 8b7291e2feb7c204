#include "core/timing_run.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace loft::core {
namespace {

constexpr Cycle kQueue = 8;  // cycles by which the front end runs ahead of issue

Cycle whole(const Parameter& parameter) { return std::llround(parameter.value); }

bool is_int(Op op) { return op >= Op::int_alu && op <= Op::int_div; }

bool is_vector(Op op) { return op >= Op::fp_add && op <= Op::x87_slow; }

}  // namespace

TimingRun::TimingRun(const Window& window, const CoreParameters& core)
    : window_(window),
      core_(core),
      leaves_(static_cast<std::size_t>(whole(core.reorder_window))),
      commits_(static_cast<std::size_t>(whole(core.store_buffer))),
      stores_(kStores),
      last_stores_(window.instructions.size()),
      granules_(kGranules),
      filled_(kFilled) {}

Timing TimingRun::run(const Scenario& scenario, std::vector<Moments>* moments) {
  prepare(scenario);
  moments_ = moments;
  for (const Execution& execution : window_.executions)
    execute(window_.instructions[execution.instruction], execution);
  timing_.cycles = static_cast<std::uint64_t>(last_leave_);
  return std::move(timing_);
}

void TimingRun::prepare(const Scenario& scenario) {
  scenario_ = scenario;
  const auto without = [&](Cause cause) { return scenario.without.has(cause); };
  turns_ = Turns(core_.core_share.value);
  prepare_ops();
  prepare_units();

  const Cycle l1 = without(Cause::l1_latency) ? 0 : whole(core_.l1_latency);
  level_latency_ = {l1, without(Cause::l2_latency) ? l1 : whole(core_.l2_latency),
                    without(Cause::l3_latency) ? l1 : whole(core_.l3_latency),
                    without(Cause::dram_latency) ? l1 : whole(core_.dram_latency)};
  for (std::size_t i = 1; i < line_interval_.size(); ++i)
    line_interval_[i].set(static_cast<double>(level_latency_[i]) / core_.fetch_lines.value);
  is_bandwidth_limited_ = {!without(Cause::l1_bandwidth), !without(Cause::l2_bandwidth),
                           !without(Cause::l3_bandwidth), !without(Cause::dram_bandwidth)};
  is_near_ = {false, without(Cause::l2_bandwidth) && without(Cause::l2_latency),
              without(Cause::l3_bandwidth) && without(Cause::l3_latency),
              without(Cause::dram_bandwidth) && without(Cause::dram_latency)};
  const bool is_wide = without(Cause::width);
  issue_width_ = is_wide ? kEndless : whole(core_.issue_width);
  retire_width_ = is_wide ? kEndless : whole(core_.retire_width);
  front_width_ = is_wide ? kEndless : whole(core_.front_width);
  taken_per_cycle_ = whole(core_.taken_per_cycle);
  code_lines_ = whole(core_.code_lines);
  nops_a_slot_ = std::max<Cycle>(1, whole(core_.nop_width) / whole(core_.issue_width));
  vector_load_extra_ = without(Cause::l1_latency) ? 0 : whole(core_.vector_load_extra);
  indexed_load_extra_ = without(Cause::l1_latency) ? 0 : whole(core_.indexed_load_extra);
  mispredict_penalty_ = whole(core_.mispredict_penalty);
  second_tlb_ = without(Cause::tlb) ? 0 : whole(core_.second_tlb_latency);
  walk_ = without(Cause::tlb) ? 0 : whole(core_.walk_latency);
  walk_to_memory_ = walk_ == 0 ? 0 : std::max(walk_, whole(core_.walk_to_memory));
  page_start_ = without(Cause::tlb)
                    ? 0
                    : std::llround(core_.page_start.value * static_cast<double>(level_latency_[3]));
  for (std::size_t i = 2; i < walk_beyond_.size(); ++i)
    walk_beyond_[i] = std::max<Cycle>(0, level_latency_[i] - whole(core_.l2_latency));
  commit_width_ = without(Cause::memory_ports)
                      ? kEndless
                      : whole(core_.unit_count[static_cast<std::size_t>(Unit::store)]);
  transfer_ = whole(core_.transfer_latency);
  atomic_ = whole(core_.atomic_latency);
  // Loads may begin before an atomic has finished, if not their results are there before.
  barrier_ahead_ =
      whole(core_.l1_latency) - std::min(whole(core_.load_after_atomic), whole(core_.l1_latency));
  const double forwards = without(Cause::store_forwarding) ? 0 : 1;
  forward_general_.set(forwards * core_.forward_general.value);
  forward_renamed_.set(forwards * core_.forward_renamed.value);
  forward_vector_.set(forwards * core_.forward_vector.value);
  forward_blocked_.set(forwards * core_.forward_blocked.value);
  renames_ = whole(core_.renames);
  add_elsewhere_ = without(Cause::fp_latency) ? 0 : whole(core_.fp_add_elsewhere);
  vector_width_ = static_cast<int>(whole(core_.vector_width));
  has_mispredictions_ = !without(Cause::mispredictions);
  has_front_end_ = !without(Cause::front_end);
  has_sharing_ = !without(Cause::sharing);
  has_atomics_ = !without(Cause::atomics);

  nops_in_slot_ = 0;
  now_ = issued_in_cycle_ = front_ = delivered_ = taken_ = restart_ = 0;
  lines_in_cycle_ = 0;
  code_line_ = ~std::uint64_t{0};
  lines_.fill(0);
  fetched_ = 0;
  next_fetch_ = 0;
  last_leave_ = left_in_cycle_ = last_commit_ = committed_in_cycle_ = 0;
  committed_line_ = ~std::uint64_t{0};
  last_load_ = load_barrier_ = 0;
  added_ = 0;
  executed_ = stored_ = 0;
  restarting_block_ = -1;
  registers_.fill(0);
  std::fill(leaves_.begin(), leaves_.end(), 0);
  std::fill(commits_.begin(), commits_.end(), 0);
  std::fill(last_stores_.begin(), last_stores_.end(), 0);
  std::fill(granules_.begin(), granules_.end(), Granule{});
  std::fill(filled_.begin(), filled_.end(), Filled{});
  begun_pages_.fill({});
  timing_.by_block.assign(window_.blocks.size(), 0);
}

void TimingRun::prepare_ops() {
  const auto without = [&](Cause cause) { return scenario_.without.has(cause); };
  for (std::size_t i = 0; i < kOps; ++i) {
    const auto op = static_cast<Op>(i);
    const OpParameters& from = core_.ops[i];
    const bool has_latency = !(is_int(op) && without(Cause::int_latency)) &&
                             !(is_vector(op) && without(Cause::fp_latency));
    const bool divides = from.unit == Unit::int_div || from.unit == Unit::fp_div;
    // In the place of a division there is a multiplication: that is how programs avoid them.
    const bool multiplies = divides && without(Cause::divider);
    const Op multiplication = from.unit == Unit::int_div ? Op::int_mul : Op::fp_mul;
    const OpParameters& timed = multiplies ? core_[multiplication] : from;
    ops_[i].unit = timed.unit;
    ops_[i].is_one = multiplies;
    ops_[i].cluster = cluster_of(ops_[i].unit);
    ops_[i].is_wide = is_vector(op);
    ops_[i].latency.set(has_latency ? timed.latency.value : 0);
    ops_[i].occupancy.set(timed.occupancy.value);
  }
}

void TimingRun::prepare_units() {
  const auto without = [&](Cause cause) { return scenario_.without.has(cause); };
  for (std::size_t i = 0; i < kUnits; ++i) {
    const auto unit = static_cast<Unit>(i);
    const Cluster cluster = cluster_of(unit);
    const bool divides = unit == Unit::int_div || unit == Unit::fp_div;
    const Cause cause = divides                       ? Cause::divider
                        : cluster == Cluster::vector  ? Cause::fp_ports
                        : cluster == Cluster::integer ? Cause::int_ports
                                                      : Cause::memory_ports;
    // As many bytes as the units for vectors move: they are what bounds the bandwidth of L1, too.
    const bool moves_vectors = unit == Unit::vector_load || unit == Unit::vector_store;
    is_limited_[i] =
        unit != Unit::none && !without(cause) && !(moves_vectors && without(Cause::l1_bandwidth));
    units_[i].reset(static_cast<int>(whole(core_.unit_count[i])), turns_);
  }
  is_cluster_limited_ = {false, !without(Cause::int_ports), !without(Cause::fp_ports)};
  for (std::size_t i = 0; i < kClusters; ++i)
    clusters_[i].reset(static_cast<int>(whole(core_.cluster_count[i])));
  const auto entries = [](const Parameter& parameter) {
    return static_cast<std::size_t>(whole(parameter));
  };
  waiting_[static_cast<std::size_t>(Cluster::integer)].reset(entries(core_.integer_scheduler));
  waiting_[static_cast<std::size_t>(Cluster::vector)].reset(entries(core_.vector_scheduler));
  // Siblings share what belongs to their core, up to L2.
  const double share = core_.core_share.value;
  l1_loads_.reset(share * core_.l1_load_bandwidth.value);
  l1_stores_.reset(share * core_.l1_store_bandwidth.value);
  l2_.reset(share * core_.l2_bandwidth.value);
  l3_.reset(core_.l3_bandwidth.value);
  dram_.reset(core_.dram_bandwidth.value);
  fill_buffers_.reset(static_cast<int>(whole(core_.fill_buffers)));
  walkers_.reset(static_cast<int>(whole(core_.walkers)));
}

void TimingRun::execute(const Instruction& instruction, const Execution& execution) {
  const std::span<const WindowAccess> accesses(window_.accesses.data() + execution.first_access,
                                               execution.accesses);
  bool has_store = false;
  for (const WindowAccess& access : accesses) has_store |= access.is_store;
  shares_slot_ = shares_slot(instruction, execution);
  issue(instruction, execution, has_store);
  const bool is_atomic = instruction.is_atomic && has_atomics_;

  Cycle addressed = ready(instruction.address_registers, now_);
  if (is_atomic) addressed = std::max({addressed, last_commit_, last_load_});
  Cycle loaded = now_;
  for (const WindowAccess& access : accesses)
    if (!access.is_store) loaded = std::max(loaded, load(instruction, access, addressed));
  last_load_ = std::max(last_load_, loaded);

  Cycle finish = operate(instruction, operands_ready(instruction, loaded));
  // The latency of an atomic is that of all it does: load, operation and store.
  if (is_atomic) {
    finish = std::max(finish, addressed + atomic_);
    load_barrier_ = finish - barrier_ahead_;
  }
  if (instruction.is_fence && has_atomics_)
    load_barrier_ = finish = std::max({finish, last_commit_, last_load_});
  for (Registers left = instruction.destinations; left != 0; left &= left - 1)
    registers_[static_cast<std::size_t>(std::countr_zero(left))] = finish;
  added_ &= ~instruction.destinations;
  if (instruction.op == Op::fp_add) added_ |= instruction.destinations;

  if (!has_store) {
    leave(instruction, finish);
  } else {
    Cycle line = 0;
    for (const WindowAccess& access : accesses)
      if (access.is_store) line = std::max(line, store(instruction, access, addressed));
    leave(instruction, finish);
    for (const WindowAccess& access : accesses)
      if (access.is_store) keep_store(instruction, access, finish, line);
  }
  if (moments_ != nullptr)
    moments_->push_back({now_, addressed, loaded, started_, finish, last_leave_});
  const bool is_mispredicted =
      scenario_.relearns ? execution.is_mispredicted_anew : execution.is_mispredicted;
  if (is_mispredicted && has_mispredictions_) {
    restart_ = finish + mispredict_penalty_;
    restarting_block_ = instruction.block;
  }
  if (instruction.op == Op::system) restart_ = std::max(restart_, finish);
}

// Branch prediction asks for lines ahead of decoding, as far as its queue reaches and not beyond a
// misprediction; caches have so many of its requests under way.
Cycle TimingRun::fetch_code(const Execution& execution) {
  Cycle at = std::max(restart_, lines_[fetched_ % kLinesAhead]);
  const bool is_near = scenario_.unknown == Unknown::nearest;
  const Translation code = is_near ? execution.code_nearest : execution.code;
  if (code != Translation::first) at += code == Translation::walk ? walk_ : second_tlb_;
  if (const Level from = fetched_from(execution); from != Level::l1) {
    const auto level = static_cast<std::size_t>(from);
    at = std::max(at, next_fetch_);
    next_fetch_ = at + line_interval_[level].next();
    at += level_latency_[level];
  }
  return at;
}

// The cycle in which the front end delivers the instruction.
Cycle TimingRun::deliver(const Instruction& instruction, const Execution& execution) {
  if (!has_front_end_) return restart_;
  Cycle at = std::max({front_, restart_, now_ - kQueue});
  const std::uint64_t line = instruction.address / kLine;
  const bool is_new = line != code_line_ || fetched_from(execution) != Level::l1;
  if (is_new) at = std::max(at, fetch_code(execution));
  code_line_ = line;
  const bool is_full = delivered_ >= front_width_ && !shares_slot_;
  const bool is_line_too_many = is_new && lines_in_cycle_ >= code_lines_;
  if (at == front_ && (is_full || is_line_too_many || taken_ >= taken_per_cycle_)) ++at;
  if (at > front_) delivered_ = taken_ = lines_in_cycle_ = 0;
  lines_in_cycle_ += is_new || lines_in_cycle_ == 0;
  delivered_ += !shares_slot_;
  taken_ += execution.is_taken;
  if (is_new) lines_[fetched_++ % kLinesAhead] = at;
  return front_ = at;
}

bool TimingRun::shares_slot(const Instruction& instruction, const Execution& execution) {
  if (instruction.uops == 0) return true;
  if (!is_nop(instruction) || execution.accesses > 0) {
    nops_in_slot_ = 0;
    return false;
  }
  const bool shares = nops_in_slot_ > 0 && nops_in_slot_ < nops_a_slot_;
  nops_in_slot_ = shares ? nops_in_slot_ + 1 : 1;
  return shares;
}

void TimingRun::issue(const Instruction& instruction, const Execution& execution, bool has_store) {
  Cycle at = std::max(now_, deliver(instruction, execution));
  at = std::max(at, leaves_[executed_ % leaves_.size()]);
  if (has_store) at = std::max(at, commits_[stored_ % commits_.size()]);
  if (at > now_) {
    now_ = at;
    issued_in_cycle_ = 0;
  }
  if (shares_slot_) return;
  const auto next_cycle = [this] {
    do ++now_;
    while (turns_.are_siblings(now_));
  };
  if (turns_.are_siblings(now_)) next_cycle(), issued_in_cycle_ = 0;
  while (issued_in_cycle_ >= issue_width_) {
    next_cycle();
    issued_in_cycle_ -= issue_width_;
  }
  issued_in_cycle_ += ops_[static_cast<std::size_t>(instruction.op)].is_one ? 1 : instruction.uops;
}

Cycle TimingRun::ready(Registers registers, Cycle at) const {
  for (; registers != 0; registers &= registers - 1)
    at = std::max(at, registers_[static_cast<std::size_t>(std::countr_zero(registers))]);
  return at;
}

Cycle TimingRun::operands_ready(const Instruction& instruction, Cycle at) const {
  at = ready(instruction.sources, at);
  if (add_elsewhere_ == 0 || instruction.op == Op::fp_add) return at;
  const Registers late = instruction.sources & added_;
  return late == 0 ? at : std::max(at, ready(late, 0) + add_elsewhere_);
}

Cycle TimingRun::start_on(Unit unit, Cluster cluster, Cycle at, int cycles) {
  const bool is_limited = is_limited_[static_cast<std::size_t>(unit)];
  const bool is_cluster_limited = is_cluster_limited_[static_cast<std::size_t>(cluster)];
  UnitCalendar& units = units_[static_cast<std::size_t>(unit)];
  UnitCalendar& pipes = clusters_[static_cast<std::size_t>(cluster)];
  // A divider works on its own: the pipe that starts it is free in the next cycle.
  const bool divides = unit == Unit::fp_div || unit == Unit::int_div;
  const int pipe_cycles = divides ? 1 : cycles;
  // However many units there are, a sibling keeps its turns.
  if (!is_limited && !is_cluster_limited && unit != Unit::none)
    while (turns_.are_siblings(at)) ++at;
  for (;;) {
    const Cycle unit_at = is_limited ? units.find(now_, at, pipe_cycles) : at;
    const Cycle pipe_at = is_cluster_limited ? pipes.find(now_, unit_at, pipe_cycles) : unit_at;
    if (pipe_at == unit_at) {
      if (is_limited && divides) units.take_parts(unit_at, cycles);
      if (is_limited && !divides) units.take(unit_at, cycles);
      if (is_cluster_limited) pipes.take(unit_at, pipe_cycles);
      return unit_at;
    }
    at = pipe_at;
  }
}

Cycle TimingRun::operate(const Instruction& instruction, Cycle at) {
  started_ = at;
  if (instruction.op == Op::none) return at;
  OpTable& op = ops_[static_cast<std::size_t>(instruction.op)];
  if (instruction.op == Op::system) at = std::max(at, last_leave_);
  auto cycles = static_cast<int>(op.occupancy.next());
  if (op.is_wide && instruction.vector_bits > vector_width_)
    cycles *= instruction.vector_bits / vector_width_;
  WaitingList& waiting = waiting_[static_cast<std::size_t>(op.cluster)];
  const bool waits = op.cluster != Cluster::none;
  if (waits) at = std::max(at, waiting.enter(now_));
  at = started_ = start_on(op.unit, op.cluster, at, std::max(1, cycles));
  if (waits) waiting.add(at);
  return at + op.latency.next();
}

void TimingRun::leave(const Instruction& instruction, Cycle finish) {
  Cycle at = std::max(finish, last_leave_);
  if (at > last_leave_) left_in_cycle_ = 0;
  if (left_in_cycle_ >= retire_width_ && !shares_slot_) {
    ++at;
    left_in_cycle_ = 0;
  }
  left_in_cycle_ += !shares_slot_;
  Cycle taken = at - last_leave_;
  if (restarting_block_ >= 0) {
    const Cycle lost = std::clamp<Cycle>(restart_ - last_leave_, 0, taken);
    timing_.by_block[static_cast<std::size_t>(restarting_block_)] +=
        static_cast<std::uint64_t>(lost);
    taken -= lost;
    restarting_block_ = -1;
  }
  timing_.by_block[instruction.block] += static_cast<std::uint64_t>(taken);
  last_leave_ = at;
  leaves_[executed_ % leaves_.size()] = at;
  ++executed_;
}

}  // namespace loft::core
