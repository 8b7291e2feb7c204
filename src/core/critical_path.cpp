#include "core/critical_path.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

namespace loft::core {
namespace {

using Cycle = std::int64_t;
constexpr std::size_t kNobody = ~std::size_t{0};

// Who gave each execution what it read: found in program order, as registers and memory are.
struct Producers {
  std::size_t source = kNobody;   // of its registers, the one that finished last
  std::size_t address = kNobody;  // likewise of those of its addresses
  std::size_t stored = kNobody;   // the store that a load of it reads from
  std::size_t fetched = kNobody;  // another load that fetched a line of it
};

class ProducerFinder {
 public:
  ProducerFinder(const Window& window, const std::vector<Moments>& moments)
      : window_(window), moments_(moments) {
    writers_.fill(kNobody);
  }

  std::vector<Producers> find() {
    std::vector<Producers> found;
    for (std::size_t i = 0; i < window_.executions.size(); ++i) {
      const Execution& execution = window_.executions[i];
      const Instruction& instruction = window_.instructions[execution.instruction];
      Producers producers;
      producers.source = last_of(instruction.sources);
      producers.address = last_of(instruction.address_registers);
      for (std::size_t k = 0; k < execution.accesses; ++k)
        meet(window_.accesses[execution.first_access + k], i, producers);
      for (Registers left = instruction.destinations; left != 0; left &= left - 1)
        writers_[static_cast<std::size_t>(std::countr_zero(left))] = i;
      found.push_back(producers);
    }
    return found;
  }

 private:
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kWord = 8;
  static constexpr std::uint64_t kMostWords = 9;

  [[nodiscard]] std::size_t last_of(Registers registers) const {
    std::size_t last = kNobody;
    for (; registers != 0; registers &= registers - 1) {
      const std::size_t writer = writers_[static_cast<std::size_t>(std::countr_zero(registers))];
      if (writer == kNobody) continue;
      if (last == kNobody || moments_[writer].finished >= moments_[last].finished) last = writer;
    }
    return last;
  }

  void meet(const WindowAccess& access, std::size_t execution, Producers& producers) {
    const std::uint64_t line = access.address / kLine;
    if (access.cache.level != Level::l1) {
      fetches_[line] = execution;
    } else if (const auto fetch = fetches_.find(line); fetch != fetches_.end()) {
      producers.fetched = fetch->second;
    }
    const std::uint64_t first = access.address / kWord;
    for (std::uint64_t word = first;
         word * kWord < access.address + access.size && word < first + kMostWords; ++word) {
      if (access.is_store) {
        stores_[word] = execution;
        continue;
      }
      const auto found = stores_.find(word);
      if (found == stores_.end() || found->second == execution) continue;
      if (producers.stored == kNobody || found->second > producers.stored)
        producers.stored = found->second;
    }
  }

  const Window& window_;
  const std::vector<Moments>& moments_;
  std::array<std::size_t, 64> writers_{};
  std::unordered_map<std::uint64_t, std::size_t> stores_;   // by word: the last
  std::unordered_map<std::uint64_t, std::size_t> fetches_;  // by line: the last
};

// Goes back from moment to moment. Each step charges an instruction with the time it spans.
class Walk {
 public:
  Walk(const Window& window, const std::vector<Moments>& moments, std::size_t reorder_window)
      : window_(window),
        moments_(moments),
        producers_(ProducerFinder(window, moments).find()),
        reorder_window_(reorder_window) {
    path_.by_instruction.resize(window.instructions.size());
  }

  CriticalPath path() {
    if (moments_.empty()) return std::move(path_);
    path_.cycles = static_cast<std::uint64_t>(moments_.back().left);
    at_ = moments_.size() - 1;
    time_ = moments_.back().left;
    // Every step goes back in time, or to an execution before.
    while (time_ > 0 && step_back()) {
    }
    charge(Wait::issue, 0);
    for (const auto& [to, counts] : came_from_)
      path_.by_instruction[to].waits_for =
          std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
    return std::move(path_);
  }

 private:
  enum class Station { left, finished, issued };

  [[nodiscard]] const Moments& now() const { return moments_[at_]; }
  [[nodiscard]] std::uint32_t instruction(std::size_t execution) const {
    return window_.executions[execution].instruction;
  }

  // All that passed since `from` was spent on this.
  void charge(Wait wait, Cycle from) {
    from = std::max<Cycle>(from, 0);
    if (from >= time_) return;
    path_.by_instruction[instruction(at_)].cycles[static_cast<std::size_t>(wait)] +=
        static_cast<std::uint64_t>(time_ - from);
    time_ = from;
  }

  void go_to(std::size_t execution, Station station) {
    at_ = execution;
    station_ = station;
  }

  void come_from(std::size_t producer) {
    ++came_from_[instruction(at_)][instruction(producer)];
    go_to(producer, Station::finished);
  }

  bool step_back() {
    switch (station_) {
      case Station::left:
        return leave();
      case Station::finished:
        return finish();
      case Station::issued:
        return issue();
    }
    return false;
  }

  bool leave() {
    // What finished last of all is waited for; what finished before waits for its turn.
    if (at_ == 0 || now().finished >= moments_[at_ - 1].left) {
      charge(Wait::retirement, now().finished);
      station_ = Station::finished;
      return true;
    }
    charge(Wait::retirement, moments_[at_ - 1].left);
    go_to(at_ - 1, Station::left);
    return true;
  }

  bool finish() {
    charge(Wait::operation, now().started);
    const Producers& from = producers_[at_];
    const Cycle source = from.source == kNobody ? 0 : moments_[from.source].finished;
    const bool loads = now().loaded > now().addressed;
    const Cycle ready = std::max({now().issued, source, loads ? now().loaded : 0});
    charge(Wait::unit, ready);
    if (loads && now().loaded >= source) return load(from);
    if (source > now().issued) {
      come_from(from.source);
      return true;
    }
    station_ = Station::issued;
    return true;
  }

  bool load(const Producers& from) {
    // A store that finished after the address was there is what the load waited for.
    if (from.stored != kNobody && moments_[from.stored].finished > now().addressed &&
        moments_[from.stored].finished <= now().loaded) {
      charge(Wait::forwarding, moments_[from.stored].finished);
      come_from(from.stored);
      return true;
    }
    // A line that is under way already is waited for at the level it comes from.
    const bool is_under_way = from.fetched != kNobody && from.fetched != at_ &&
                              moments_[from.fetched].loaded > now().addressed;
    charge(wait_of_load(is_under_way ? from.fetched : at_), now().addressed);
    const Cycle address = from.address == kNobody ? 0 : moments_[from.address].finished;
    if (address > now().issued) {
      come_from(from.address);
      return true;
    }
    charge(Wait::unit, now().issued);
    station_ = Station::issued;
    return true;
  }

  [[nodiscard]] Wait wait_of_load(std::size_t by) const {
    const Execution& execution = window_.executions[by];
    Wait farthest = Wait::l1;
    for (std::size_t i = 0; i < execution.accesses; ++i) {
      const WindowAccess& access = window_.accesses[execution.first_access + i];
      if (access.is_store) continue;
      if (access.cache.is_transfer) return Wait::transfer;
      if (access.translation.served == Translation::walk) return Wait::walk;
      // A prefetched line that is waited for is waited for at the level it comes from.
      const Level level = std::max(access.cache.level, access.cache.prefetched_from);
      farthest = std::max(farthest,
                          static_cast<Wait>(static_cast<int>(Wait::l1) + static_cast<int>(level)));
    }
    return farthest;
  }

  bool issue() {
    if (at_ == 0) return false;
    const bool restarts =
        window_.executions[at_ - 1].is_mispredicted && moments_[at_ - 1].finished < now().issued;
    if (restarts) {
      const Cycle until = moments_[at_ - 1].finished;
      go_to(at_ - 1, Station::finished);
      charge(Wait::restart, until);
      return true;
    }
    // The reorder window was full: issued when the one that many before it left.
    const bool waited = now().issued > moments_[at_ - 1].issued;
    if (waited && at_ >= reorder_window_ && moments_[at_ - reorder_window_].left >= now().issued) {
      go_to(at_ - reorder_window_, Station::left);
      return true;
    }
    charge(Wait::issue, moments_[at_ - 1].issued);
    --at_;
    return true;
  }

  const Window& window_;
  const std::vector<Moments>& moments_;
  std::vector<Producers> producers_;
  std::size_t reorder_window_;
  std::size_t at_ = 0;
  Station station_ = Station::left;
  Cycle time_ = 0;
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> came_from_;
  CriticalPath path_;
};

}  // namespace

std::string_view to_string(Wait wait) {
  constexpr std::array<std::string_view, kWaits> kNames = {
      "operation", "unit",     "l1",         "l2",      "l3",    "memory",
      "walk",      "transfer", "forwarding", "restart", "issue", "retirement"};
  return kNames[static_cast<std::size_t>(wait)];
}

std::uint64_t CriticalShare::sum() const {
  return std::accumulate(cycles.begin(), cycles.end(), std::uint64_t{0});
}

Wait CriticalShare::longest() const {
  return static_cast<Wait>(std::ranges::max_element(cycles) - cycles.begin());
}

Result<CriticalPath> critical_path(const Window& window, const CoreParameters& core,
                                   const Scenario& scenario) {
  LOFT_CHECK(check(window));
  LOFT_CHECK(check(core));
  std::vector<Moments> moments;
  moments.reserve(window.executions.size());
  (void)Timer(window, core).run(scenario, &moments);
  const auto reorder_window = static_cast<std::size_t>(std::llround(core.reorder_window.value));
  return Walk(window, moments, reorder_window).path();
}

}  // namespace loft::core
