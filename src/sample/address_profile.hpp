// How often samples met each address of a program's code: what the time of a loop, a source line or
// an instruction is made of.
//
//   AddressProfile addresses(history, locations, 0);              // of the first event
//   recording.for_each_sample(workers, [&](unsigned i) { return addresses.worker(i); });
//   for (const MetAddress& met : addresses.finish()) use(met.function, met.address, met.weight);
//
// Samples in the kernel, and those of code that nothing is mapped over, have no address here.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sample/locations.hpp"
#include "sample/sample.hpp"
#include "sample/trie.hpp"

namespace loft::sample {

struct MetAddress {
  std::uint32_t function = 0;  // one of the Locations
  std::uint64_t address = 0;   // as the binary's own tables have it
  Weight weight;
};

class AddressProfile {
 public:
  // History and locations outlive it.
  AddressProfile(const TaskHistory& history, Locations& locations, std::uint32_t event);
  ~AddressProfile();

  // The sink of worker `number`; made when it is first asked for. Safe from several threads.
  SampleSink* worker(unsigned number);
  // By function, then by address.
  [[nodiscard]] std::vector<MetAddress> finish() const;

 private:
  class Worker;
  const TaskHistory& history_;
  Locations& locations_;
  std::uint32_t event_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace loft::sample
