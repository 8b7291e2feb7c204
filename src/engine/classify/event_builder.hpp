// The tools that the table of events is made with: conditions, and names from words.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/classify/events.hpp"

namespace loft::engine::detail {

using A = Attribute;
using C = InsnClass;
using M = Measure;

template <class E>
constexpr std::uint16_t number(E value) {
  return static_cast<std::uint16_t>(value);
}
template <class E>
constexpr Condition is(A attribute, E value) {
  return {attribute, number(value), number(value)};
}
template <class E>
constexpr Condition between(A attribute, E low, E high) {
  return {attribute, number(low), number(high)};
}
constexpr Condition some(A attribute) { return {attribute, 1, 0xFFFF}; }

using Parts = std::initializer_list<std::string_view>;

// A name and its description, from words.
struct Words {
  Parts name;
  Parts description;
};

class EventBuilder {
 public:
  explicit EventBuilder(std::size_t expected) { events_.reserve(expected); }
  void add(Words words, M measure, std::initializer_list<Condition> conditions = {});
  std::vector<EventInfo> take() { return std::move(events_); }

 private:
  std::vector<EventInfo> events_;
};

// All values of an enumeration from `first` to the last one.
template <class E>
std::vector<E> values(E first = static_cast<E>(1), E last = E::count_) {
  std::vector<E> all;
  for (auto i = number(first); i < number(E::count_) && i <= number(last); ++i)
    all.push_back(static_cast<E>(i));
  return all;
}

// "128-bit", "scalar", "single precision".
std::string width_words(Width width);
std::string_view precision_words(Precision precision);

// Loads or stores.
struct Flow {
  std::string_view count_name, bytes_name, verb;
  M count, bytes;
  A size, form;
};
constexpr Flow kFlows[] = {
    {"loads", "load_bytes", "read", M::loads, M::load_bytes, A::load_size, A::load_form},
    {"stores", "store_bytes", "written", M::stores, M::store_bytes, A::store_size, A::store_form}};

// Classes by operand size, width, precision and traffic.
void add_classes(EventBuilder& table);  // event_classes.cpp

}  // namespace loft::engine::detail
