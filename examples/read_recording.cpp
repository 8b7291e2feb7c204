// What a recording contains, and its busiest thread: an example of loft/perf_data.hpp.
//
//   read_recording perf.data
#include <cstdio>
#include <map>

#include "loft/perf_data.hpp"

namespace pd = loft::perf_data;

int main(int argc, char** argv) {
  std::string why;
  const auto reader = pd::Reader::open(argc > 1 ? argv[1] : "perf.data", why);
  if (reader == nullptr) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }

  // What it says about itself.
  for (const pd::EventDescription& event : reader->metadata().events)
    std::printf("event %s\n", event.name.c_str());
  for (const auto& [type, count] : reader->records_by_type())
    std::printf("%8llu %s\n", static_cast<unsigned long long>(count), type.c_str());

  // Its records in order of time, parsed where they are of interest.
  std::map<std::uint32_t, std::uint64_t> samples_of_thread;
  for (const pd::Record& record : *reader)
    if (const auto sample = record.as<pd::Sample>())
      if (sample->who.tid) ++samples_of_thread[*sample->who.tid];

  // The same in callback style.
  std::uint64_t mapped = 0;
  pd::Callbacks calls;
  calls.on_mmap = [&](const pd::Record&, const pd::Mmap& map) { mapped += map.length; };
  reader->run(calls);

  for (const auto& [tid, samples] : samples_of_thread)
    std::printf("thread %u: %llu samples\n", tid, static_cast<unsigned long long>(samples));
  std::printf("%llu bytes were mapped\n", static_cast<unsigned long long>(mapped));
  return 0;
}
