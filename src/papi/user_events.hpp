// Events that users define: metrics of a file (metric/library.hpp) over events that the engine
// counts.
//
//   UserEvents users;                          // $PAPI_USER_EVENTS_FILE and the user's own files
//   LOFT_CHECK(users.load("my.events"));       // PAPI_set_opt(PAPI_USER_EVENTS_FILE, ...)
//   LOFT_TRY(const auto formula, users.find("IPC"));
//   use(formula->terms());                     // what has to be counted
//   show(formula->evaluate(counts, seconds));  // of the terms, in their order
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace loft::papi {

class Formula {
 public:
  virtual ~Formula() = default;
  // Events of engine::event_table(), each once.
  [[nodiscard]] virtual const std::vector<std::uint32_t>& terms() const = 0;
  // In the metric's unit; nothing where it has no value, as a ratio to 0 has none.
  [[nodiscard]] virtual std::optional<double> evaluate(std::span<const std::uint64_t> counts,
                                                       double seconds) const = 0;
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual std::string unit() const = 0;
};

class UserEvents {
 public:
  UserEvents();
  ~UserEvents();
  UserEvents(const UserEvents&) = delete;
  UserEvents& operator=(const UserEvents&) = delete;

  // Adds the definitions of a file. Where one is wrong, nothing of it is used.
  [[nodiscard]] Result<void> load(const std::string& path);
  // Files that the program has given to libloft since (loft_metrics_load), where it has that.
  // Whether there were any.
  bool load_those_of_libloft();
  // Names that files of the user define, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  // Fails with what is missing for it.
  [[nodiscard]] Result<std::shared_ptr<const Formula>> find(std::string_view name) const;
  // Whether there is a metric of this name at all, countable or not.
  [[nodiscard]] bool is_known(std::string_view name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace loft::papi
