// Call chains whose user part comes as a record of its own, later than the sample.
#include <gtest/gtest.h>

#include "format/builders.hpp"
#include "sample/call_tree.hpp"
#include "sample/sample.hpp"
#include "source/file/profile_recording.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

constexpr std::uint16_t kKernelMode = 1;

void add_sample(perf::RecordingBuilder& file, std::uint64_t cookie) {
  auto body = file.body();
  body.u64(0xffff0000).u32(1).u32(1).u64(10).u64(4);
  body.u64(perf_data::kContextKernel).u64(0xffff0000);
  body.u64(perf_data::kContextUserDeferred).u64(cookie);
  file.record(RecordType::sample, kKernelMode, body);
}

void add_deferred(perf::RecordingBuilder& file, std::uint64_t cookie) {
  auto body = file.body();
  body.u64(cookie).u64(3).u64(perf_data::kContextUser).u64(0x1000 + cookie).u64(0x2000);
  body.u32(1).u32(1).u64(11);
  file.record(RecordType::callchain_deferred, 0, body);
}

struct Chains : sample::SampleSink {
  void add(const sample::Sample& sample) override {
    auto& chain = chains.emplace_back();
    for (std::size_t i = 0; i < sample.call_chain.size(); ++i)
      chain.push_back(sample.call_chain[i]);
  }
  void finish(std::uint64_t) override {}
  std::vector<std::vector<std::uint64_t>> chains;
};

perf::RecordingBuilder chains_recording(ByteOrder order = ByteOrder::little) {
  perf::RecordingBuilder file(order);
  file.event({.sample_type = perf::kIp | perf::kTid | perf::kTime | perf::kCallchain});
  return file;
}

TEST(DeferredChain, TakesThePlaceOfItsCookie) {
  for (const auto order : {ByteOrder::little, ByteOrder::big}) {
    auto file = chains_recording(order);
    add_deferred(file, 8);  // of another CPU's buffer
    add_sample(file, 7);
    add_sample(file, 8);
    add_deferred(file, 7);
    const auto bytes = file.finish();
    const auto recording = Recording::of_bytes(bytes);
    ASSERT_TRUE(recording);
    Chains sink;
    (*recording)->for_each_sample(1, [&](unsigned) { return &sink; });
    const std::vector<std::uint64_t> kernel = {perf_data::kContextKernel, 0xffff0000};
    const auto with_user = [&](std::uint64_t address) {
      auto chain = kernel;
      chain.insert(chain.end(), {perf_data::kContextUser, address, 0x2000});
      return chain;
    };
    ASSERT_EQ(sink.chains.size(), 2u);
    EXPECT_EQ(sink.chains[0], with_user(0x1007));
    EXPECT_EQ(sink.chains[1], with_user(0x1008));
  }
}

TEST(DeferredChain, ACookieIsNeverTakenForAnAddress) {
  auto file = chains_recording();
  auto map = file.body();
  map.u32(1).u32(1).u64(0).u64(0x10000).u64(0).text_padded("/no/such/app", 8).u32(1).u32(1).u64(0);
  file.record(RecordType::mmap, 2, map);
  add_sample(file, 0x4242);  // its user part was lost
  const auto bytes = file.finish();
  const auto recording = Recording::of_bytes(bytes);
  ASSERT_TRUE(recording);
  sample::ProfileOptions options;
  options.tree = true;
  const auto profiled = profile_recording(**recording, options, {}, 1);
  ASSERT_TRUE(profiled);
  for (std::uint32_t i = 0; i < profiled->locations->function_count(); ++i)
    EXPECT_EQ(profiled->locations->function(i).name.find("app+"), std::string::npos);
}

}  // namespace
}  // namespace loft::source
