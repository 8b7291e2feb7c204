// Source lines of code that ran, where the binary has debug information.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "symbols/symbol_store.hpp"

namespace loft::source::virtual_pmu {

class LineFinder {
 public:
  struct Line {
    std::string file;
    unsigned line = 0;  // 0: not known
  };

  // `address` is one of the binary's own tables.
  [[nodiscard]] Line find(const std::string& binary, std::uint64_t address);
  // Functions whose bodies are inlined there, outermost first.
  [[nodiscard]] std::vector<std::string> inlined(const std::string& binary, std::uint64_t address);

 private:
  [[nodiscard]] const symbols::SymbolTable* table_of(const std::string& binary);

  symbols::SymbolStore symbols_;
  std::map<std::string, std::shared_ptr<const symbols::SymbolTable>> tables_;
};

}  // namespace loft::source::virtual_pmu
