// The PMUs that the kernel publishes in /sys/bus/event_source/devices: their numbers, the bit
// fields of their format/ files, and the named events of their events/ files.
//
//   PmuTable table(root);
//   LOFT_TRY(const Pmu pmu, table.find("uncore_imc_0"));
//   LOFT_TRY(const Event event, pmu.encode("event=0x04,umask=0x03"));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/places.hpp"
#include "base/result.hpp"
#include "event/event.hpp"

namespace loft::event {

// Where the value of a term goes: "config:0-7,32-35".
struct BitField {
  int word = 0;                                 // 0 to 3: config, config1, config2, config3
  std::vector<std::pair<int, int>> bit_ranges;  // first and last bit, the value's low bits first

  [[nodiscard]] static Result<BitField> parse(std::string_view text);
  [[nodiscard]] int width() const;
};

class Pmu {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint32_t type() const { return type_; }
  // CPUs to open it on, for PMUs that count a package or a socket; empty for those of tasks.
  [[nodiscard]] const CpuList& cpus() const { return cpus_; }

  // Names in events/, without the files that only describe another (.scale, .unit, ...).
  [[nodiscard]] std::vector<std::string> event_names() const;
  [[nodiscard]] bool has_event(std::string_view event) const;

  // Understands "term=value,flag,alias". The event's name, origin and modifiers are the caller's.
  [[nodiscard]] Result<Event> encode(std::string_view terms) const;

 private:
  friend class PmuTable;

  Pmu(std::string folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}
  Result<void> apply(std::string_view terms, Event& event, bool inside_alias) const;
  Result<void> apply_term(std::string_view key, std::optional<std::string_view> value, Event& event,
                          bool inside_alias) const;
  Result<void> apply_alias(std::string_view alias, Event& event) const;
  Failure unknown_term(std::string_view key) const;

  std::string folder_;
  std::string name_;
  std::uint32_t type_ = 0;
  CpuList cpus_;
};

class PmuTable {
 public:
  explicit PmuTable(SystemRoot root) : root_(std::move(root)) {}

  // All PMUs by name; read once. Empty when /sys is not there.
  [[nodiscard]] const std::vector<std::string>& names();

  // Reads what the kernel says about one PMU.
  [[nodiscard]] Result<Pmu> find(std::string_view name);

  // The PMUs that count instructions and cycles of tasks: "cpu", or several on hybrid machines.
  [[nodiscard]] const std::vector<std::string>& core_names();

  // `name` itself, or the numbered instances of it: "uncore_imc" is uncore_imc_0, uncore_imc_1, ...
  // Empty when there is none.
  [[nodiscard]] std::vector<std::string> matching(std::string_view name);

 private:
  SystemRoot root_;
  std::optional<std::vector<std::string>> names_;
  std::optional<std::vector<std::string>> cores_;
};

// "uncore_imc_12" without its number: "uncore_imc".
std::string_view pmu_stem(std::string_view name);

}  // namespace loft::event
