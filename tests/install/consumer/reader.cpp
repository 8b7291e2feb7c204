// Reads a recording with the installed library: every type that a record can be taken as must link.
#include <loft/perf_data.hpp>

#include <cstdio>

namespace pd = loft::perf_data;

template <class... Types>
int matches(const pd::Record& record) {
  return (0 + ... + (record.as<Types>() ? 1 : 0));
}

int main(int, char** argv) {
  std::string why;
  const auto reader = pd::Reader::open(argv[1], why);
  if (!reader) return std::printf("%s\n", why.c_str()), 1;
  int typed = 0;
  for (const pd::Record& record : *reader) {
    typed +=
        matches<pd::Sample, pd::Mmap, pd::Comm, pd::Task, pd::Lost, pd::LostSamples, pd::Throttle,
                pd::Switch, pd::Namespaces, pd::Ksymbol, pd::BpfEvent, pd::Cgroup, pd::TextPoke,
                pd::Aux, pd::ItraceStart, pd::Read, pd::IdIndex, pd::ThreadMap, pd::TimeConversion,
                pd::StatValue, pd::StatRound, pd::BuildId, pd::EventUpdate>(record);
    if (record.id().cpu && pd::name_of(record.type()).empty()) return 2;
  }
  std::printf("%d of a known type, %zu events, %llu lost\n", typed,
              reader->metadata().events.size(), static_cast<unsigned long long>(reader->lost()));
  return reader->problems().size() > 100 ? 3 : 0;
}
