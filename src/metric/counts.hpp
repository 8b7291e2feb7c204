// The counts that formulas are evaluated on, by event name.
//
//   CountSet counts;
//   counts.add("cycles:u", Quantity::of(reading));
//   counts.find("cycles")    // found: the name without modifiers is enough while it is unambiguous
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "metric/number.hpp"
#include "sample/count.hpp"

namespace loft::metric {

// One operand: how much, and how far it can be trusted.
struct Quantity {
  Number value;  // in base units: counts, seconds, bytes, joules
  sample::Origin origin = sample::Origin::missing;
  std::string why;  // only when missing

  // `scale` turns the count into base units (1e-9 for an event in ns).
  static Quantity of(const sample::Count& count, double scale = 1);
  static Quantity exact(Number value) { return {value, sample::Origin::counted, {}}; }
  static Quantity missing(std::string why) {
    return {Number{}, sample::Origin::missing, std::move(why)};
  }
};

// The origin of what two quantities give together. Modelled stays modelled whatever it is combined
// with; scaled makes counted scaled.
sample::Origin weaker(sample::Origin a, sample::Origin b);

class CountSet {
 public:
  void add(const std::string& name, Quantity quantity);

  // By exact name, else by plain name. A name that several different counts answer to is missing,
  // with the reason; one that was never given is null.
  [[nodiscard]] const Quantity* find(std::string_view name) const;

  // The name under which the count that find() gives was added; empty when there is not one.
  [[nodiscard]] std::string full_name(std::string_view name) const;

  [[nodiscard]] const std::map<std::string, Quantity, std::less<>>& by_name() const {
    return exact_;
  }

 private:
  struct Named {
    std::string name;
    Quantity quantity;
  };
  std::map<std::string, Quantity, std::less<>> exact_;
  std::map<std::string, Named, std::less<>> plain_;
};

}  // namespace loft::metric
