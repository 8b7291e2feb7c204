// Functions by address: a sorted array, searched in two dozen steps. Names stay where they were
// found, in the mapped file, until somebody asks for one; only then is it demangled, once.
//
//   SymbolArray::Builder builder;
//   builder.add({.start = 0x1000, .size = 64, .name = "main"});
//   const auto symbols = builder.finish(NameStyle::plain);
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/demangle.hpp"
#include "symbols/symbol_table.hpp"

namespace loft::symbols {

// A name for an address, one of several perhaps.
struct Candidate {
  // What is better known wins where several share an address.
  enum class Binding : std::uint8_t { global, weak, local };

  std::uint64_t start = 0;
  std::uint64_t size = 0;  // 0: unknown, up to the next symbol or `limit`
  std::string_view name;   // a view that the builder's owners keep alive
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  Binding binding = Binding::global;
  bool is_function = true;  // not just a label
};

class SymbolArray {
 public:
  class Builder;

  ~SymbolArray();
  SymbolArray(const SymbolArray&) = delete;
  SymbolArray& operator=(const SymbolArray&) = delete;

  [[nodiscard]] const Symbol* find(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // All functions of that name, as it is shown or as it is in the file.
  [[nodiscard]] std::vector<const Symbol*> named(std::string_view name) const;
  // All that can be called: not the stubs of calls elsewhere, nor the parts of a function that were
  // put apart because they seldom run.
  [[nodiscard]] std::vector<const Symbol*> functions() const;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Entry {
    std::uint64_t start;
    std::uint64_t end;
    const char* name;
    std::uint32_t length;
    std::uint32_t around;  // the entry that this one lies inside of, or kNone
  };

  explicit SymbolArray(NameStyle style) : style_(style) {}
  const Symbol* materialize(std::uint32_t index) const;

  NameStyle style_;
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<const void>> owners_;  // of the bytes that names point into
  std::shared_ptr<const std::deque<std::string>> own_names_;

  mutable std::vector<std::atomic<const Symbol*>> ready_;
  mutable std::mutex mutex_;  // guards the two below
  mutable std::deque<Symbol> symbols_;
  mutable std::deque<std::string> demangled_;
};

class SymbolArray::Builder {
 public:
  // A longer name is cut: no language makes such, but a file may claim to have one of any length.
  static constexpr std::size_t kLongestName = 64u << 10;
  void add(Candidate candidate) {
    candidate.name = candidate.name.substr(0, kLongestName);
    candidates_.push_back(candidate);
  }
  void reserve(std::size_t more) { candidates_.reserve(candidates_.size() + more); }

  // Keeps a name that is in no mapped file, such as "puts@plt".
  std::string_view keep(std::string name) { return own_names_->emplace_back(std::move(name)); }

  // Keeps the bytes alive that names point into.
  void keep_alive(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }

  [[nodiscard]] bool is_empty() const { return candidates_.empty(); }

  // Moves every symbol: where a kernel was loaded.
  void move_by(std::uint64_t distance);

  // The best name of each address, sorted. Leaves the builder empty.
  [[nodiscard]] std::unique_ptr<SymbolArray> finish(NameStyle style);

 private:
  void drop_aliases();
  void drop_labels_inside_functions();

  std::vector<Candidate> candidates_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::shared_ptr<std::deque<std::string>> own_names_ = std::make_shared<std::deque<std::string>>();
};

}  // namespace loft::symbols
