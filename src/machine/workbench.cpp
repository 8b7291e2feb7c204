#include "machine/workbench.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "machine/check.hpp"
#include "machine/ticks.hpp"

namespace loft::machine {
namespace {

constexpr int kChainLength = 512;
constexpr std::uint64_t kChainTrips = 128;  // 65 536 cycles: some 20 µs
// A calibration slower than the best by more than this means that the core was not ours, or slower.
constexpr double kCalibrationSlack = 1.02;
constexpr int kMostWindows = 64;
constexpr std::size_t kHugePage = 2u << 20;
constexpr std::size_t kMostPlaces = 8;

// What a run of the chain takes beside the chain: the least that a chain of one link takes. So
// short a run is hardly ever disturbed.
Result<double> calibration_overhead(const Arguments& chain) {
  LOFT_TRY(const auto code, assemble(chain_kernel(Op::int_add, 1)));
  Arguments arguments = chain;
  arguments.trips = 1;
  std::uint64_t least = ~0ULL;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t start = ticks();
    code.run(arguments);
    least = std::min(least, ticks() - start);
  }
  return static_cast<double>(least);
}

long involuntary_switches() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

struct Workbench::Window {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  double calibration = 0;  // ticks of the slower of the two chains
  double quickest = 0;     // and of the quicker
  bool switched = false;
};

struct Workbench::Seat {
  alignas(64) std::byte vectors[kVectorStateBytes];
  Buffer memory;
  Arguments arguments;
  Arguments chain;
  std::vector<Window> windows = std::vector<Window>(kMostWindows);
};

Workbench::Workbench(const CpuList& cpus, SystemRoot root, Code calibration)
    : root_(std::move(root)), team_(cpus), calibration_(std::move(calibration)) {}

Workbench::~Workbench() = default;

Result<std::unique_ptr<Workbench>> Workbench::make(const CpuList& cpus, std::size_t memory,
                                                   const SystemRoot& root) {
  const Kernel chain = chain_kernel(Op::int_add, kChainLength);
  LOFT_TRY(auto code, assemble(chain));
  LOFT_CHECK(check(chain, code));
  std::unique_ptr<Workbench> bench(new Workbench(cpus, root, std::move(code)));
  const TickRate rate;
  std::vector<int> everyone;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    everyone.push_back(static_cast<int>(i));
    bench->seats_.push_back(std::make_unique<Seat>());
    LOFT_TRY(bench->seats_[i]->memory, Buffer::allocate(i == 0 ? memory : memory / 2, Pages::huge));
  }
  bench->team_.run(everyone, [&](int member) {
    Seat& seat = *bench->seats_[static_cast<std::size_t>(member)];
    seat.memory.touch();
    seat.chain.vectors = seat.vectors;
    seat.chain.trips = kChainTrips;
    fill_vectors(seat.vectors, Precision::dp);
  });
  LOFT_TRY(bench->overhead_, calibration_overhead(bench->seats_.front()->chain));
  while (rate.elapsed() < std::chrono::milliseconds(30)) std::this_thread::yield();
  bench->ticks_per_second_ = rate.per_second();
  return bench;
}

double Workbench::clock_of(const Trial& trial) const {
  if (trial.cycles_per_tick * kCalibrationSlack >= cycles_per_tick_) return cycles_per_tick_;
  // Disturbed calibrations differ from each other; those of a slower clock agree.
  constexpr double kAgreement = 0.999;
  constexpr std::ptrdiff_t kEnough = 5;
  const auto agreeing = std::ranges::count_if(
      trial.clocks, [&](double clock) { return clock >= trial.cycles_per_tick * kAgreement; });
  return agreeing >= kEnough ? trial.cycles_per_tick : cycles_per_tick_;
}

double Workbench::huge_share() const { return seats_.front()->memory.huge_share(); }

Result<Trial> Workbench::prepare(TrialSetup setup) const {
  LOFT_TRY(auto code, assemble(setup.kernel));
  LOFT_CHECK(check(setup.kernel, code));
  Trial trial{std::move(setup), std::move(code), {}, 0, {}, 1, 0, 0};
  const Kernel& kernel = trial.setup.kernel;
  if (kernel.stride != 0) {
    const std::size_t per_stream = trial.setup.bytes / static_cast<std::size_t>(kernel.streams);
    trial.span = std::max<std::size_t>(per_stream / kernel.stride, 1) * kernel.stride;
  }
  return trial;
}

void Workbench::seat_arguments(const Trial& trial, int member) {
  Seat& seat = *seats_[static_cast<std::size_t>(member)];
  const Kernel& kernel = trial.setup.kernel;
  // Streams lie whole pages apart: a load then never looks like a store that is still under way.
  const std::size_t apart = (trial.span + 4095) / 4096 * 4096;
  // Where pages lie decides how evenly they fill a cache: what fits into one huge page is tried in
  // another one each round, so that the best of them is the same in every run.
  const std::size_t needed = apart * static_cast<std::size_t>(kernel.streams);
  const std::size_t places =
      needed <= kHugePage ? std::clamp<std::size_t>(seat.memory.size() / kHugePage, 1, kMostPlaces)
                          : 1;
  std::byte* const first =
      seat.memory.data() + static_cast<std::size_t>(trial.rounds) % places * kHugePage;
  seat.arguments = {};
  seat.arguments.span = trial.span;
  seat.arguments.vectors = seat.vectors;
  seat.arguments.p = trial.setup.p;
  seat.arguments.q = trial.setup.q;
  seat.arguments.r = trial.setup.r;
  for (int i = 0; i < kIntegers; ++i)
    seat.arguments.integers[i] = trial.setup.first_integer + static_cast<std::uint64_t>(i);
  const std::vector<std::byte*>& starts = trial.setup.starts;
  for (std::size_t stream = 0; stream < static_cast<std::size_t>(kernel.streams); ++stream)
    seat.arguments.streams[stream] =
        starts.empty() ? first + apart * stream : starts[std::min(stream, starts.size() - 1)];
}

// Doubles the trips until a window is long enough to tell, then takes what the best needs.
void Workbench::choose_trips(Trial& trial, double window_ticks) {
  if (trial.rounds > 0 && trial.estimate.best() > 0) {
    const double per_thread =
        trial.estimate.best() / static_cast<double>(trial.setup.members.size());
    trial.trips = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(window_ticks * per_thread / trial.setup.work));
    return;
  }
  team_.run({trial.setup.members.front()}, [&](int member) {
    seat_arguments(trial, member);
    Seat& seat = *seats_[static_cast<std::size_t>(member)];
    for (trial.trips = 1;; trial.trips *= 2) {
      seat.arguments.trips = trial.trips;
      const std::uint64_t start = ticks();
      trial.code.run(seat.arguments);
      const auto took = static_cast<double>(ticks() - start);
      if (took < window_ticks / 8) continue;
      trial.trips = std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(static_cast<double>(trial.trips) * window_ticks / took));
      return;
    }
  });
}

void Workbench::run_windows(Trial& trial, int count) {
  const int threads = static_cast<int>(trial.setup.members.size());
  team_.run(trial.setup.members, [&](int member) {
    Seat& seat = *seats_[static_cast<std::size_t>(member)];
    const auto calibrate = [&] {
      const std::uint64_t start = ticks();
      calibration_.run(seat.chain);
      return static_cast<double>(ticks() - start) - overhead_;
    };
    fill_vectors(seat.vectors, trial.setup.kernel.precision);
    seat.arguments.trips = std::max({std::uint64_t{1}, trial.trips / 4, trial.setup.warm_trips});
    trial.code.run(seat.arguments);  // warms caches and predictors; not a window
    seat.arguments.trips = trial.trips;
    for (int i = 0; i < count; ++i) {
      Window& window = seat.windows[static_cast<std::size_t>(i)];
      fill_vectors(seat.vectors, trial.setup.kernel.precision);
      const long switches = involuntary_switches();
      const double before = calibrate();
      team_.meet(threads);
      window.start = ticks();
      trial.code.run(seat.arguments);
      window.end = ticks();
      const double after = calibrate();
      window.calibration = std::max(before, after);
      window.quickest = std::min(before, after);
      window.switched = involuntary_switches() != switches;
    }
  });
}

// A window of several threads lasts from the first start to the last end.
void Workbench::judge(Trial& trial, int count, bool stolen) {
  std::vector<const Seat*> seats;
  for (const int member : trial.setup.members)
    seats.push_back(seats_[static_cast<std::size_t>(member)].get());
  double quickest =
      static_cast<double>(kChainLength * kChainTrips) / std::max(trial.cycles_per_tick, 1e-9);
  for (const Seat* seat : seats) {
    for (int i = 0; i < count; ++i) {
      const double each = seat->windows[static_cast<std::size_t>(i)].quickest;
      quickest = std::min(quickest, each);
      trial.clocks.push_back(static_cast<double>(kChainLength * kChainTrips) / each);
    }
  }
  trial.cycles_per_tick = static_cast<double>(kChainLength * kChainTrips) / quickest;
  cycles_per_tick_ = std::max(cycles_per_tick_, trial.cycles_per_tick);
  const double work = trial.setup.work * static_cast<double>(trial.trips * seats.size());
  for (int i = 0; i < count; ++i) {
    Window all = seats[0]->windows[static_cast<std::size_t>(i)];
    for (const Seat* seat : seats) {
      const Window& each = seat->windows[static_cast<std::size_t>(i)];
      all.start = std::min(all.start, each.start);
      all.end = std::max(all.end, each.end);
      all.calibration = std::max(all.calibration, each.calibration);
      all.switched = all.switched || each.switched;
    }
    const bool disturbed = stolen || all.switched || all.calibration > quickest * kCalibrationSlack;
    ++windows_;
    if (disturbed) ++disturbed_;
    trial.estimate.add(work / static_cast<double>(all.end - all.start), disturbed, trial.rounds);
  }
}

// Time that the hypervisor gave to others while our CPUs wanted to run, in the kernel's clock
// ticks.
std::uint64_t Workbench::stolen_time(const std::vector<int>& members) const {
  const auto stat = read_file(root_.at("/proc/stat"));
  if (!stat) return 0;
  std::uint64_t sum = 0;
  for (const int member : members) {
    const std::string name =
        "\ncpu" + std::to_string(team_.cpus()[static_cast<std::size_t>(member)]) + " ";
    const auto at = stat->find(name);
    if (at == std::string::npos) continue;
    const std::string_view rest = std::string_view(*stat).substr(at + name.size());
    const auto fields = split(rest.substr(0, rest.find('\n')), ' ');
    constexpr std::size_t kSteal = 7;
    if (fields.size() > kSteal) sum += parse_u64(fields[kSteal]).value_or(0);
  }
  return sum;
}

void Workbench::run_round(Trial& trial, int windows, double window_seconds) {
  choose_trips(trial, window_seconds * ticks_per_second_);
  for (const int member : trial.setup.members) seat_arguments(trial, member);
  windows = std::min(windows, kMostWindows);
  for (int tries = 0, wanted = windows; tries < 3 && wanted > 0; ++tries) {
    const int clean_before = trial.estimate.windows() - trial.estimate.disturbed();
    const std::uint64_t stolen = stolen_time(trial.setup.members);
    run_windows(trial, wanted);
    judge(trial, wanted, stolen_time(trial.setup.members) != stolen);
    wanted -= trial.estimate.windows() - trial.estimate.disturbed() - clean_before;
  }
  ++trial.rounds;
  if (!trial.setup.kernel.uses(Op::chase)) return;
  const Seat& seat = *seats_[static_cast<std::size_t>(trial.setup.members.front())];
  trial.setup.starts.assign(seat.arguments.streams,
                            seat.arguments.streams + trial.setup.kernel.streams);
}

}  // namespace loft::machine
