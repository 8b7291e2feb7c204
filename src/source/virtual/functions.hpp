// Which function an instruction of a run under the engine belongs to.
//
//   FunctionFinder finder(run.shared());
//   const auto number = finder.find(block, address);
//   finder.functions()[number].name;
//
// A block knows the mapping it was read from, so code that was unmapped, or replaced by other code
// at the same address, keeps its name. Names are those of `loft report`. What has none is named by
// its binary and address. Code that a process made is named by its jitdump or perf map, as they are
// when it is first asked for; all that neither names is one function.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mapping.hpp"
#include "engine/shared.hpp"
#include "symbols/symbol_store.hpp"

namespace loft::source::virtual_pmu {

class FunctionFinder {
 public:
  struct Function {
    std::string name;
    std::string binary;
    std::uint64_t address = 0;  // of its first instruction, as in the binary's own tables
  };

  explicit FunctionFinder(const engine::Shared& shared);

  [[nodiscard]] std::uint32_t find(const engine::BlockEntry& block, std::uint64_t address);
  // The address as the binary's own tables have it.
  [[nodiscard]] std::uint64_t address_in_binary(const engine::BlockEntry& block,
                                                std::uint64_t address);
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

  // Files whose names cannot be trusted, and why.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  // What a mapping shows.
  struct Place {
    std::uint64_t start = 0;
    std::uint64_t file_offset = 0;
    std::string binary;  // as it is shown
    std::shared_ptr<const symbols::SymbolTable> table;
    std::shared_ptr<const Mapping> file;  // null for code that is in no file
    bool was_replaced = false;
    bool is_memory = false;  // the process made this code
  };

  Place& place_of(std::uint32_t mapping);
  [[nodiscard]] std::shared_ptr<const symbols::SymbolTable> names_of_made_code(
      std::uint32_t process);
  std::uint32_t intern(std::string name, const Place& place, std::uint64_t start);
  bool is_from_file(const engine::BlockEntry& block, Place& place);
  std::uint32_t named(const symbols::Symbol& symbol, const Place& place);
  std::uint32_t unnamed(const Place& place, std::uint64_t start);
  std::optional<std::uint32_t> known(const Place& place, std::uint64_t inside);

  const engine::Shared& shared_;
  symbols::SymbolStore symbols_;
  std::unordered_map<std::uint32_t, Place> places_;  // by mapping
  std::unordered_map<std::string, std::shared_ptr<const Mapping>> files_;
  std::vector<Function> functions_;
  std::unordered_map<const symbols::Symbol*, std::uint32_t> by_symbol_;
  std::unordered_map<std::string, std::uint32_t> by_address_;
  std::vector<std::string> notes_;
  std::uint64_t checked_ = ~std::uint64_t{0};  // the code offset of the block last found unchanged
};

}  // namespace loft::source::virtual_pmu
