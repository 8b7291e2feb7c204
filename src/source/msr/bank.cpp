#include "source/msr/bank.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace loft::source::msr {
namespace {

// Bits of PERFEVTSEL.
constexpr std::uint64_t kUser = 1ull << 16;
constexpr std::uint64_t kKernel = 1ull << 17;
constexpr std::uint64_t kInterrupt = 1ull << 20;
constexpr std::uint64_t kEnable = 1ull << 22;

constexpr std::uint32_t kIntelSelect = 0x186;
constexpr std::uint32_t kIntelCount = 0xC1;
constexpr std::uint32_t kIntelGlobal = 0x38F;
constexpr std::uint32_t kAmdSelect = 0xC0010200;  // the counters stand between the selections
constexpr std::uint32_t kAmdCount = 0xC0010201;

constexpr std::uint64_t kWidth = (1ull << 48) - 1;
constexpr std::uint64_t kInstructions = 0xC0;  // of both

// The generic events by their numbers: cycles, instructions, cache references and misses, branches
// and their misses.
constexpr std::array<std::uint64_t, 6> kIntelEvents = {0x3C, 0xC0, 0x4F2E, 0x412E, 0xC4, 0xC5};
constexpr std::array<std::uint64_t, 6> kAmdEvents = {0x76, 0xC0, 0, 0, 0xC2, 0xC3};

constexpr std::uint64_t kLoop = 100'000;  // instructions at least

void spin() {
  for (std::uint64_t i = 0; i < kLoop; ++i) asm volatile("" : : "r"(i));
}

}  // namespace

std::optional<Vendor> vendor_in(std::string_view cpuinfo) {
  for (const std::string_view line : split(cpuinfo, '\n')) {
    if (!line.starts_with("vendor_id")) continue;
    if (line.find("GenuineIntel") != std::string_view::npos) return Vendor::intel;
    if (line.find("AuthenticAMD") != std::string_view::npos) return Vendor::amd;
    return std::nullopt;
  }
  return std::nullopt;
}

std::size_t counters_of(Vendor vendor) { return vendor == Vendor::intel ? 4 : 6; }

std::optional<std::uint64_t> select_value(const event::Event& event, Vendor vendor) {
  std::uint64_t code = 0;
  if (event.encoding.type == event::kTypeHardware) {
    const auto& codes = vendor == Vendor::intel ? kIntelEvents : kAmdEvents;
    if (event.encoding.config >= codes.size() || codes[event.encoding.config] == 0)
      return std::nullopt;
    code = codes[event.encoding.config];
  } else if (event.encoding.type == event::kTypeRaw) {
    const std::uint64_t allowed = vendor == Vendor::intel ? 0xFFFF'FFFFull : 0xF'FFFF'FFFFull;
    code = event.encoding.config & allowed & ~(kUser | kKernel | kInterrupt | kEnable);
  } else {
    return std::nullopt;
  }
  return code | (event.modifiers.user ? kUser : 0) | (event.modifiers.kernel ? kKernel : 0);
}

std::uint32_t CounterBank::select_register(std::size_t i) const {
  const auto number = static_cast<std::uint32_t>(i);
  return vendor_ == Vendor::intel ? kIntelSelect + number : kAmdSelect + 2 * number;
}

std::uint32_t CounterBank::count_register(std::size_t i) const {
  const auto number = static_cast<std::uint32_t>(i);
  return vendor_ == Vendor::intel ? kIntelCount + number : kAmdCount + 2 * number;
}

Result<std::unique_ptr<CounterBank>> CounterBank::open(std::unique_ptr<Registers> registers,
                                                       Vendor vendor,
                                                       std::vector<std::uint64_t> selects) {
  if (selects.size() > counters_of(vendor))
    return failure(
        ErrorKind::limit, "count by registers",
        fmt::format("{} events do not fit into {} counters", selects.size(), counters_of(vendor)),
        "ask for fewer: these counters are not shared in turns");
  std::unique_ptr<CounterBank> bank(new CounterBank(std::move(registers), vendor));
  // Even without events one counter is there for the self-test.
  bank->counters_.resize(std::max<std::size_t>(selects.size(), 1));
  for (std::size_t i = 0; i < selects.size(); ++i) bank->counters_[i].select = selects[i];
  LOFT_CHECK(bank->save());
  return bank;
}

Result<void> CounterBank::save() {
  for (std::size_t i = 0; i < counters_of(vendor_); ++i) {
    LOFT_TRY(const std::uint64_t select, registers_->read(select_register(i)));
    if ((select & kEnable) != 0)
      return failure(
          ErrorKind::limit, "count by registers",
          fmt::format("counter {} is in use, by the kernel's perf or another program", i),
          "end the other profiler, or the NMI watchdog: sysctl kernel.nmi_watchdog=0");
    if (i >= counters_.size()) continue;
    counters_[i].old_select = select;
    LOFT_TRY(counters_[i].old_value, registers_->read(count_register(i)));
  }
  if (vendor_ == Vendor::intel) {
    LOFT_TRY(old_global_, registers_->read(kIntelGlobal));
  }
  return {};
}

CounterBank::~CounterBank() { restore(); }

bool CounterBank::write(std::uint32_t number, std::uint64_t value) noexcept {
  return registers_->write(number, value).has_value();
}

void CounterBank::restore() noexcept {
  if (!is_on_) return;
  is_on_ = false;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    (void)write(select_register(i), counters_[i].old_select);
    (void)write(count_register(i), counters_[i].old_value);
  }
  if (old_global_) (void)write(kIntelGlobal, *old_global_);
}

bool CounterBank::start() noexcept {
  bool is_good = true;
  is_on_ = true;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    counters_[i].last = counters_[i].sum = 0;
    is_good = is_good && write(select_register(i), 0) && write(count_register(i), 0) &&
              write(select_register(i), counters_[i].select | kEnable);
  }
  if (old_global_)
    is_good = is_good && write(kIntelGlobal, *old_global_ | ((1ull << counters_.size()) - 1));
  if (!is_good) restore();
  return is_good;
}

bool CounterBank::read(std::span<std::uint64_t> values) noexcept {
  for (std::size_t i = 0; i < values.size() && i < counters_.size(); ++i) {
    Counter& counter = counters_[i];
    const auto select = registers_->read(select_register(i));
    const auto value = registers_->read(count_register(i));
    // Whoever has programmed it since counts something else now.
    const std::uint64_t ours = counter.select | (is_on_ ? kEnable : 0);
    if (!select || !value || (is_on_ && *select != ours)) return false;
    if (is_on_) counter.sum += (*value - counter.last) & kWidth;
    counter.last = *value & kWidth;
    values[i] = counter.sum;
  }
  return true;
}

// The sums stay to be read.
bool CounterBank::stop() noexcept {
  std::array<std::uint64_t, 8> last{};
  const bool is_read = read(std::span(last).first(counters_.size()));
  restore();
  return is_read;
}

Result<void> CounterBank::self_test() {
  const auto selects = counters_;
  for (Counter& counter : counters_) counter.select = kInstructions | kUser | kKernel;
  std::array<std::uint64_t, 8> counts{};
  const std::span<std::uint64_t> used = std::span(counts).first(counters_.size());
  const bool has_run = start();
  spin();
  const bool is_read = has_run && read(used);
  restore();
  for (std::size_t i = 0; i < counters_.size(); ++i) counters_[i].select = selects[i].select;
  if (!is_read)
    return failure(ErrorKind::unsupported, "count by registers",
                   "the counters cannot be programmed");
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i] < kLoop)
      return failure(ErrorKind::unsupported, "count by registers",
                     fmt::format("counter {} counted {} of {} instructions: it is not there, as in "
                                 "most virtual machines",
                                 i, used[i], kLoop));
  return {};
}

}  // namespace loft::source::msr
