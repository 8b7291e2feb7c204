// The user's own names: events and sets of events, in a text file that people edit and share.
//
//   # comment
//   event l3_miss = cpu/event=0x2e,umask=0x41/   # what follows is its description
//   set frontend = cycles, {instructions, branches}:u, l3_miss
//
//   LOFT_TRY(auto own, Definitions::load(config_directory()));
//   LOFT_CHECK(own.add({Definition::Kind::set, "mine", "cycles,instructions", ""}, false));
//   LOFT_CHECK(own.save());
//
// Lines that are not touched stay as they were written, comments included. A file that cannot be
// parsed is an error with line and column, so nobody can save over it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft::event {

struct Definition {
  enum class Kind { event, set };

  Kind kind = Kind::event;
  std::string name;
  std::string text;         // the encoding, or the list of events
  std::string description;  // one line, may be empty
};

std::string_view word_of(Definition::Kind kind);  // "event" or "set"

class Definitions {
 public:
  static constexpr std::string_view kFileName = "events.conf";

  // From events.conf in `directory`; empty when there is no such file.
  [[nodiscard]] static Result<Definitions> load(const std::string& directory);
  [[nodiscard]] static Result<Definitions> parse(std::string_view text, std::string path);

  [[nodiscard]] const std::vector<Definition>& all() const { return definitions_; }
  [[nodiscard]] const Definition* find(std::string_view name) const;
  [[nodiscard]] const std::string& path() const { return path_; }

  // Refuses a name that is taken unless it is to replace one of the same kind.
  [[nodiscard]] Result<void> add(const Definition& definition, bool replace);
  [[nodiscard]] Result<void> remove(Definition::Kind kind, std::string_view name);

  // Held from load() to save(), it keeps two people from losing what the other one adds. Waits for
  // whoever holds it; makes the directory when there is none.
  [[nodiscard]] static Result<Fd> hold(const std::string& directory);

  // Replaces the file at once; a failure leaves the old one.
  [[nodiscard]] Result<void> save() const;

 private:
  std::string path_;
  std::vector<std::string> lines_;
  std::vector<Definition> definitions_;
  std::vector<std::size_t> line_of_;  // for each definition
};

// Whether a person may give this name: letters, digits, '_', '-' and '.', at most 64, starting with
// a letter; none that loft, perf or PAPI already give a meaning of their own on every machine.
[[nodiscard]] Result<void> check_own_name(std::string_view name);

}  // namespace loft::event
