#include "sample/address_profile.hpp"

#include <gtest/gtest.h>

namespace loft::sample {
namespace {

Sample sample_at(std::uint64_t ip, std::uint64_t period) {
  Sample sample;
  sample.ip = ip;
  sample.period = period;
  sample.pid = sample.tid = 7;
  sample.time = 5;
  sample.mode = CpuMode::user;
  return sample;
}

TEST(AddressProfile, AddsUpTheSamplesOfEachAddressOverWorkers) {
  TaskHistory history;
  history.add_map({0, 7, {0x1000, 0x2000, 0, history.intern({.path = "/no/such/app"})}});
  symbols::SymbolStore store;
  Locations locations(history, store, {});
  AddressProfile profile(history, locations, 0);
  profile.worker(0)->add(sample_at(0x1010, 5));
  profile.worker(1)->add(sample_at(0x1010, 6));
  profile.worker(1)->add(sample_at(0x1020, 7));
  Sample other = sample_at(0x1010, 100);
  other.event = 1;
  profile.worker(0)->add(other);
  Sample kernel = sample_at(0x1010, 100);
  kernel.mode = CpuMode::kernel;
  profile.worker(0)->add(kernel);
  profile.worker(0)->add(sample_at(0x9000, 100));  // nothing is mapped there
  const auto met = profile.finish();
  ASSERT_EQ(met.size(), 2u);
  EXPECT_EQ(met[0].weight.samples, 2u);
  EXPECT_EQ(met[0].weight.period, 11u);
  EXPECT_EQ(met[1].weight.period, 7u);
  EXPECT_EQ(met[1].address - met[0].address, 0x10u);
}

}  // namespace
}  // namespace loft::sample
