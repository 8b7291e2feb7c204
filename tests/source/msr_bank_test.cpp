#include "source/msr/bank.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/file.hpp"
#include "source/msr/rapl.hpp"

namespace loft::source::msr {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kEnable = 1ull << 22;

// A CPU whose counters advance with each reading while they are switched on.
struct FakeCpu {
  std::map<std::uint32_t, std::uint64_t> values;
  std::uint64_t step = 200'000;
  bool is_intel = false;
  int writes = 0;
};

class FakeRegisters : public Registers {
 public:
  explicit FakeRegisters(FakeCpu& cpu) : cpu_(cpu) {}
  Result<std::uint64_t> read(std::uint32_t number) const override {
    const bool is_count = cpu_.is_intel ? number >= 0xC1 && number < 0xC5
                                        : number >= 0xC0010201 && number < 0xC001020D && number % 2;
    const std::uint32_t select = cpu_.is_intel ? number - 0xC1 + 0x186 : number - 1;
    if (is_count && (cpu_.values[select] & kEnable) != 0)
      cpu_.values[number] = (cpu_.values[number] + cpu_.step) & ((1ull << 48) - 1);
    return cpu_.values[number];
  }
  Result<void> write(std::uint32_t number, std::uint64_t value) override {
    ++cpu_.writes;
    cpu_.values[number] = value;
    return {};
  }

 private:
  FakeCpu& cpu_;
};

std::unique_ptr<CounterBank> open(FakeCpu& cpu, std::vector<std::uint64_t> selects) {
  auto bank = CounterBank::open(std::make_unique<FakeRegisters>(cpu),
                                cpu.is_intel ? Vendor::intel : Vendor::amd, std::move(selects));
  EXPECT_TRUE(bank) << to_string(bank.error());
  return bank ? *std::move(bank) : nullptr;
}

TEST(MsrBank, CountsAndPutsBackWhatWasThere) {
  for (const bool is_intel : {false, true}) {
    FakeCpu cpu;
    cpu.is_intel = is_intel;
    const std::uint32_t select = is_intel ? 0x186 : 0xC0010200;
    const std::uint32_t count = is_intel ? 0xC1 : 0xC0010201;
    cpu.values[select] = 0x30076;  // set up, but switched off
    cpu.values[count] = 77;
    cpu.values[0x38F] = 0x700000000;
    {
      const auto bank = open(cpu, {0x300C0});
      ASSERT_TRUE(bank->start());
      EXPECT_EQ(cpu.values[select], 0x300C0 | kEnable);
      std::uint64_t value[1] = {};
      ASSERT_TRUE(bank->read(value));
      EXPECT_EQ(value[0], 200'000u);
      if (is_intel) {
        EXPECT_EQ(cpu.values[0x38F], 0x700000001u);
      }
    }
    EXPECT_EQ(cpu.values[select], 0x30076u);
    EXPECT_EQ(cpu.values[count], 77u);
    EXPECT_EQ(cpu.values[0x38F], 0x700000000u);
  }
}

TEST(MsrBank, RegistersThatGoAroundCountOn) {
  FakeCpu cpu;
  const auto bank = open(cpu, {0x300C0});
  ASSERT_TRUE(bank->start());
  cpu.values[0xC0010201] = 0;
  cpu.step = (1ull << 48) - 10;
  std::uint64_t value[1] = {};
  ASSERT_TRUE(bank->read(value));
  cpu.step = 30;  // over the end
  ASSERT_TRUE(bank->read(value));
  EXPECT_EQ(value[0], (1ull << 48) + 20);
}

TEST(MsrBank, CountersInUseAreRefusedUntouched) {
  FakeCpu cpu;
  cpu.values[0xC0010204] = 0x30076 | kEnable;  // the third, which nobody asked for
  const auto bank = CounterBank::open(std::make_unique<FakeRegisters>(cpu), Vendor::amd, {0x300C0});
  ASSERT_FALSE(bank);
  EXPECT_THAT(bank.error().why, HasSubstr("counter 2 is in use"));
  EXPECT_EQ(cpu.writes, 0);
}

TEST(MsrBank, ProgrammedByOthersMeanwhileIsNoReading) {
  FakeCpu cpu;
  const auto bank = open(cpu, {0x300C0});
  ASSERT_TRUE(bank->start());
  cpu.values[0xC0010200] = 0x30076 | kEnable;
  std::uint64_t value[1] = {};
  EXPECT_FALSE(bank->read(value));
}

TEST(MsrBank, SelfTestBelievesNoMachineThatAnswersZero) {
  FakeCpu real;
  EXPECT_TRUE(open(real, {0x300C0})->self_test());
  FakeCpu absent;
  absent.step = 0;
  const auto tested = open(absent, {0x300C0})->self_test();
  ASSERT_FALSE(tested);
  EXPECT_THAT(tested.error().why, HasSubstr("counted 0 of 100000 instructions"));
  EXPECT_EQ(absent.values[0xC0010200], 0u);
}

TEST(MsrBank, SumsStayAfterStop) {
  FakeCpu cpu;
  const auto bank = open(cpu, {0x300C0});
  ASSERT_TRUE(bank->start());
  ASSERT_TRUE(bank->stop());
  std::uint64_t value[1] = {};
  ASSERT_TRUE(bank->read(value));
  EXPECT_EQ(value[0], 200'000u);
  ASSERT_TRUE(bank->read(value));
  EXPECT_EQ(value[0], 200'000u);
}

TEST(MsrBank, EventsBecomeSelections) {
  event::Event cycles;
  cycles.encoding.type = event::kTypeHardware;
  EXPECT_EQ(select_value(cycles, Vendor::intel), 0x3003Cu);
  EXPECT_EQ(select_value(cycles, Vendor::amd), 0x30076u);
  cycles.modifiers.kernel = false;
  EXPECT_EQ(select_value(cycles, Vendor::amd), 0x10076u);
  event::Event raw;
  raw.encoding.type = event::kTypeRaw;
  raw.encoding.config = 0x4'0047'01C2;  // would switch itself on
  EXPECT_EQ(select_value(raw, Vendor::amd), 0x4'0003'01C2u | 0x4'0000u);
  event::Event software;
  software.encoding.type = event::kTypeSoftware;
  EXPECT_EQ(select_value(software, Vendor::intel), std::nullopt);
  EXPECT_EQ(vendor_in("processor : 0\nvendor_id\t: AuthenticAMD\n"), Vendor::amd);
  EXPECT_EQ(vendor_in("CPU implementer : 0x41\n"), std::nullopt);
}

TEST(MsrEnergy, CountsAreInTheCpusOwnUnit) {
  FakeCpu intel;
  intel.is_intel = true;
  intel.values[0x606] = 0xA0E03;                // 2^-14 J
  intel.values[0x611] = 0xFFFF'FFFF'0000'4000;  // the upper half is none of it
  const FakeRegisters registers(intel);
  EXPECT_DOUBLE_EQ(joules_per_count(registers, Vendor::intel).value(), 1.0 / 16384);
  const EnergyRegister package = energy_registers(Vendor::intel).front();
  EXPECT_DOUBLE_EQ(energy_count(registers, package).value(), 16384);
  FakeCpu absent;  // answers 0 for what it lacks
  EXPECT_FALSE(joules_per_count(FakeRegisters(absent), Vendor::amd));
}

TEST(MsrFile, RegistersAreReadAtTheirNumber) {
  std::string folder = "/tmp/loft-msr-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string bytes = std::string(0x611, 'x') + std::string("\1\0\0\0\0\0\0\0", 8);
  ASSERT_TRUE(replace_file(folder + "/dev/cpu/3/msr", bytes));
  const auto registers = MsrFile::open(3, MsrFile::Access::write, SystemRoot(folder));
  ASSERT_TRUE(registers) << to_string(registers.error());
  EXPECT_EQ((*registers)->read(0x611), 1u);
  EXPECT_TRUE((*registers)->write(0x611, 7));
  EXPECT_EQ((*registers)->read(0x611), 7u);
  EXPECT_FALSE((*registers)->read(0x700));
  std::system(("rm -rf " + folder).c_str());
}

TEST(MsrFile, MissingModuleIsSaid) {
  const auto registers = MsrFile::open(0, MsrFile::Access::read, SystemRoot("/nonexistent"));
  ASSERT_FALSE(registers);
  EXPECT_THAT(registers.error().hint, HasSubstr("modprobe msr"));
}

}  // namespace
}  // namespace loft::source::msr
