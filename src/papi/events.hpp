// What can be counted through PAPI here: presets, from share/events/papi-presets.txt, and all exact
// events of the virtual PMU as native events, "loft::NAME".
//
//   Catalogue& all = catalogue();
//   if (const Event* event = all.find("PAPI_TOT_INS")) use(event->terms);
//
// Whatever asks (query, add, enumerate, papi_avail) asks here, so all agree.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "papi/user_events.hpp"

namespace loft::papi {

// What is added up for an event: an event of the engine's table, or the time that stands for
// cycles.
struct Term {
  static constexpr std::uint32_t kTime = ~0u;
  std::uint32_t event = 0;  // of engine::event_table()
  int factor = 1;
};

struct Event {
  unsigned code = 0;
  std::string name;
  std::string description;
  std::string unit;
  std::vector<Term> terms;
  std::string why_missing;                 // not empty: it cannot be counted
  std::string note;                        // what a reader of the count must know
  unsigned categories = 0;                 // of presets: bits of PAPI_PRESET_ENUM_*
  std::shared_ptr<const Formula> formula;  // of a user's event: what its terms give together
  bool is_double = false;                  // NAME:fp64: its bits are those of a double

  [[nodiscard]] bool is_available() const { return why_missing.empty(); }
  [[nodiscard]] bool is_preset() const;
};

class Catalogue {
 public:
  Catalogue();

  [[nodiscard]] const Event* at(int code) const;
  // Without regard to "loft::" in front of native names.
  [[nodiscard]] const Event* find(std::string_view name);
  [[nodiscard]] const std::vector<Event>& presets() const { return presets_; }
  [[nodiscard]] const std::vector<Event>& natives() const { return natives_; }
  // How many events users have defined, and of installed metrics were asked for by name.
  [[nodiscard]] std::size_t user_count() const;
  // Adds the events of a file; the mistake where there is one.
  [[nodiscard]] Result<void> load(const std::string& path);
  // The program wants nothing of it.
  void disable();
  // Why nothing at all can be counted; empty when the program runs under the engine.
  [[nodiscard]] const std::string& why_disabled() const { return why_disabled_; }

 private:
  void add_natives();
  void add_presets();
  void add_user_events();
  const Event* add_user_event(const std::string& name);
  [[nodiscard]] const Event* find_counted(std::string_view name) const;

  std::string why_disabled_;
  std::vector<Event> presets_;
  std::vector<Event> natives_;
  UserEvents metrics_;
  std::deque<Event> users_;  // addresses stay
  mutable std::mutex users_mutex_;
};

// Made at the first call.
[[nodiscard]] Catalogue& catalogue();

}  // namespace loft::papi
