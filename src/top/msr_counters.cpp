#include "top/msr_counters.hpp"

#include <array>

#include "base/cpu_set.hpp"
#include "base/file.hpp"
#include "source/msr/bank.hpp"

namespace loft::top {
namespace {

using source::msr::CounterBank;

class MsrCounters : public CoreCounters {
 public:
  MsrCounters(std::unique_ptr<CounterBank> bank, std::vector<std::size_t> positions)
      : bank_(std::move(bank)), positions_(std::move(positions)) {}

  bool start() noexcept override {
    begin_ = now();
    end_ = {};
    return bank_->start();
  }

  bool stop() noexcept override {
    end_ = now();
    return bank_->stop();
  }

  bool read(std::span<RawReading> readings) noexcept override {
    std::array<std::uint64_t, 8> values{};
    if (!bank_->read(std::span(values).first(positions_.size()))) return false;
    const Nanoseconds elapsed = (end_.count() > 0 ? end_ : now()) - begin_;
    for (std::size_t i = 0; i < positions_.size(); ++i)
      readings[positions_[i]] = {values[i], elapsed, elapsed};
    return true;
  }

 private:
  std::unique_ptr<CounterBank> bank_;
  std::vector<std::size_t> positions_;  // of its events in the request
  Nanoseconds begin_{};
  Nanoseconds end_{};
};

// Runs `test` on that CPU.
Result<void> on_cpu(int cpu, const std::function<Result<void>()>& test) {
  LOFT_TRY(const CpuList before, allowed_cpus());
  LOFT_CHECK(set_allowed_cpus(0, {cpu}));
  const Result<void> outcome = test();
  LOFT_CHECK(set_allowed_cpus(0, before));
  return outcome;
}

}  // namespace

Result<CoreSet> open_by_registers(metric::Request request, int cpu, const SystemRoot& root) {
  LOFT_TRY(const std::string cpuinfo, read_file(root.at("/proc/cpuinfo")));
  const auto vendor = source::msr::vendor_in(cpuinfo);
  if (!vendor)
    return failure(ErrorKind::unsupported, "count by registers",
                   "only those of Intel and AMD are known");
  CoreSet opened;
  std::vector<std::uint64_t> selects;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < request.events.size(); ++i) {
    const event::Event& event = request.events[i];
    const auto select = source::msr::select_value(event, *vendor);
    opened.why_missing.emplace_back(select ? "" : "it is no event of the core's registers");
    opened.frame.events.push_back(sample::CountedEvent::of(event));
    opened.frame.events.back().whole_machine = true;
    if (!select) continue;
    selects.push_back(*select);
    positions.push_back(i);
  }
  using source::msr::MsrFile;
  LOFT_TRY(auto registers, MsrFile::open(cpu, MsrFile::Access::write, root));
  LOFT_TRY(auto bank, CounterBank::open(std::move(registers), *vendor, std::move(selects)));
  LOFT_CHECK(on_cpu(cpu, [&] { return bank->self_test(); }));
  opened.counters = std::make_unique<MsrCounters>(std::move(bank), std::move(positions));
  opened.request = std::move(request);
  return opened;
}

}  // namespace loft::top
