// libpfm4's tables: names and encodings of the events of some 380 PMUs.
//
// The library is loaded when it is first asked, because its tables cost more time than all else
// that happens before a program is started. Its encodings for PMUs that are not in this machine can
// be wrong, so encode() refuses those; encode_as() is for dry runs and says so in its name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "event/event.hpp"

namespace loft::event {

struct PfmPmu {
  int id = 0;
  std::string name;         // "amd64_fam19h_zen3", "skl", "perf"
  std::string description;  // "Intel Skylake"
  bool present = false;     // libpfm4 recognised the CPU; the kernel may still not offer its PMU
  bool core = false;        // counts tasks, as against uncore
  int counters = 0;         // general-purpose ones
  int fixed_counters = 0;
  // Intel's cores from Sandy Bridge to Cascade Lake have 8, of which each of two hardware threads
  // gets 4. libpfm4 gives the 8.
  [[nodiscard]] int counters_with_smt() const;
};

struct PfmEvent {
  std::string name;  // "EVENT" or "EVENT:UMASK"
  std::string description;
};

class Pfm {
 public:
  ~Pfm();

  // The library, loaded and initialised once per process.
  [[nodiscard]] static Result<Pfm*> instance();

  [[nodiscard]] const std::vector<PfmPmu>& pmus() const { return pmus_; }

  // Calls `take` for every event of a PMU and for every one of its unit masks.
  void for_each_event(const PfmPmu& pmu, const std::function<void(const PfmEvent&)>& take) const;

  // The encoding as perf_event_open wants it, with the modifiers that libpfm4 understood in `name`.
  // Encoding.pmu is the name in libpfm4; the caller knows the kernel's. Only PMUs that are present.
  [[nodiscard]] Result<Event> encode(std::string_view name);

  // A dry run: as if `pmu`, a core PMU, were this machine's.
  [[nodiscard]] Result<Event> encode_as(const PfmPmu& pmu, std::string_view name);

  // The PMU of this name, or of a name people use ("zen3", "skylake"); an error has the nearest.
  [[nodiscard]] Result<PfmPmu> find_pmu(std::string_view name) const;

 private:
  Pfm();
  Result<void> load();
  Result<void> initialise(bool with_absent);
  void collect_pmus();
  [[nodiscard]] Result<Event> encode_any(const std::string& name) const;

  struct Calls;
  std::unique_ptr<Calls> calls_;
  bool with_absent_ = false;  // libpfm4 reads this from the environment, at its start alone
  std::vector<PfmPmu> pmus_;
};

// The core PMU of a CPU that --cpu names, as ResolverOptions::pretended_pmu takes it; empty for
// none.
[[nodiscard]] Result<std::string> core_pmu_of(const std::string& cpu);

}  // namespace loft::event
