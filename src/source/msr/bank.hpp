// The counters of one CPU, programmed through its registers: PERFEVTSEL and PMC of Intel and AMD.
//
//   LOFT_TRY(auto bank, CounterBank::open(std::move(registers), Vendor::amd, events));
//   LOFT_CHECK(bank->self_test());     // on that CPU: some machines answer 0 for what they lack
//   if (bank->start())
//     use(bank->read(values));         // 64 bits wide, however often the registers went around
//
// What the registers held is put back in the end. A bank is refused while somebody else, such as
// the kernel's perf, has one of its counters switched on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.hpp"
#include "source/msr/registers.hpp"

namespace loft::source::msr {

enum class Vendor { intel, amd };

// By the text of /proc/cpuinfo; nothing for others.
[[nodiscard]] std::optional<Vendor> vendor_in(std::string_view cpuinfo);

// How many general counters every such CPU has, whatever it shares with its sibling.
[[nodiscard]] std::size_t counters_of(Vendor vendor);

// What PERFEVTSEL holds to count this event, without the bit that switches it on. Nothing for
// events that are no raw code and none of the kernel's generic ones.
[[nodiscard]] std::optional<std::uint64_t> select_value(const event::Event& event, Vendor vendor);

class CounterBank {
 public:
  // `selects` as select_value() gives them, no more than counters_of().
  [[nodiscard]] static Result<std::unique_ptr<CounterBank>> open(
      std::unique_ptr<Registers> registers, Vendor vendor, std::vector<std::uint64_t> selects);
  CounterBank(const CounterBank&) = delete;
  CounterBank& operator=(const CounterBank&) = delete;
  ~CounterBank();

  // Counts the instructions of a loop on the calling CPU, which must be this one.
  [[nodiscard]] Result<void> self_test();

  // These neither allocate nor explain. False when a register cannot be used, or when somebody
  // else has programmed it meanwhile.
  [[nodiscard]] bool start() noexcept;
  [[nodiscard]] bool stop() noexcept;
  [[nodiscard]] bool read(std::span<std::uint64_t> values) noexcept;

 private:
  struct Counter {
    std::uint64_t select = 0;      // what is counted
    std::uint64_t old_select = 0;  // what the registers held
    std::uint64_t old_value = 0;
    std::uint64_t last = 0;  // of the register
    std::uint64_t sum = 0;
  };
  CounterBank(std::unique_ptr<Registers> registers, Vendor vendor)
      : registers_(std::move(registers)), vendor_(vendor) {}
  [[nodiscard]] std::uint32_t select_register(std::size_t i) const;
  [[nodiscard]] std::uint32_t count_register(std::size_t i) const;
  [[nodiscard]] Result<void> save();
  void restore() noexcept;
  [[nodiscard]] bool write(std::uint32_t number, std::uint64_t value) noexcept;

  std::unique_ptr<Registers> registers_;
  Vendor vendor_;
  std::vector<Counter> counters_;
  std::optional<std::uint64_t> old_global_;  // Intel's master switch
  bool is_on_ = false;
};

}  // namespace loft::source::msr
