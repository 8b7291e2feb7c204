// All metrics, constants and units that are known, from many files.
//
//   Library library;
//   library.add(read_metrics(path, text), Tier::user);
//   for (const Definition* variant : library.find("GFLOPS")) ...
//
// A file of a higher tier replaces a name of a lower one. Within a tier a name may have several
// variants (one for each kind of machine); the first whose events all exist is taken.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "metric/definition.hpp"

namespace loft::metric {

// Later ones win.
enum class Tier { shared, machine, user, papi, environment, command };

class Library {
 public:
  // Takes the good definitions; complaints about the file, and about names that another file of the
  // same tier has taken, are kept in diagnostics().
  void add(MetricFile file, Tier tier);
  void add(Constant constant, Tier tier);

  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  [[nodiscard]] bool has_errors() const;

  // The variants of a name, those of the highest tier alone; empty when it is no metric.
  [[nodiscard]] std::vector<const Definition*> find(std::string_view name) const;
  [[nodiscard]] const Constant* find_constant(std::string_view name) const;

  // The unit of an event that a file declared; the longest pattern that fits.
  [[nodiscard]] const Unit* event_unit(std::string_view name) const;

  // Names of metrics and models, sorted, aliases left out.
  [[nodiscard]] std::vector<std::string> names() const;
  // Their definitions, those whose name, group or description has every word.
  [[nodiscard]] std::vector<const Definition*> with_words(
      const std::vector<std::string>& words) const;
  [[nodiscard]] std::vector<const Constant*> constants() const;

 private:
  struct Entry {
    Tier tier;
    std::vector<Definition> variants;
  };
  struct Held {
    Tier tier;
    Constant constant;
  };
  void add(Definition definition, Tier tier);

  std::map<std::string, Entry, std::less<>> definitions_;
  std::map<std::string, Held, std::less<>> constants_;
  std::map<std::string, Unit, std::less<>> event_units_;     // whole names
  std::map<std::string, Unit, std::less<>> event_prefixes_;  // beginnings
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace loft::metric
