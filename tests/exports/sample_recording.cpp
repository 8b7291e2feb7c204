// Writes a recording whose numbers are known: process 1 with the threads 1 ("first", 3 samples) and
// 2
// ("second", 1 sample), 1 ms of cpu-clock each, called by 0x2000 and 0x1000 of a binary that is
// nowhere.
#include <cstdio>

#include "base/file.hpp"
#include "format/builders.hpp"
#include "loft/perf_data/sample.hpp"

using namespace loft;
namespace perf = format::perf;
using perf::RecordType;

int main(int, char** arguments) {
  perf::RecordingBuilder file;
  file.event(
      {.sample_type = perf::kIp | perf::kTid | perf::kTime | perf::kPeriod | perf::kCallchain});
  auto map = file.body();
  map.u32(1).u32(1).u64(0x1000).u64(0x10000).u64(0).text_padded("/nowhere/app", 16);
  file.record(RecordType::mmap, 2, map.u32(1).u32(1).u64(1));
  for (const std::uint32_t tid : {1, 2}) {
    auto comm = file.body();
    comm.u32(1).u32(tid).text_padded(tid == 1 ? "first" : "second", 8);
    file.record(RecordType::comm, 0, comm.u32(1).u32(tid).u64(1));
  }
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto sample = file.body();
    sample.u64(0x3000 + 0x1000 * (i % 2)).u32(1).u32(i < 3 ? 1 : 2);
    sample.u64(1'000'000'000 + 1'000'000 * i).u64(1'000'000);
    sample.u64(4).u64(perf_data::kContextUser).u64(0x3000).u64(0x2010).u64(0x1010);
    file.record(RecordType::sample, 2, sample);
  }
  const auto bytes = file.finish();
  const auto written = replace_file(
      arguments[1], std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!written) std::fprintf(stderr, "%s\n", to_string(written.error()).c_str());
  return written ? 0 : 1;
}
