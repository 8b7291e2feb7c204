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
  // The variable at an address of a process in which the binary's code is mapped from `map_start`,
  // and shows the file from `map_offset`; empty where the binary knows none.
  [[nodiscard]] std::string variable(const std::string& binary, std::uint64_t address,
                                     std::uint64_t map_start, std::uint64_t map_offset);
  // Functions whose bodies are inlined there, outermost first.
  [[nodiscard]] std::vector<std::string> inlined(const std::string& binary, std::uint64_t address);

 private:
  [[nodiscard]] const symbols::SymbolTable* table_of(const std::string& binary);

  symbols::SymbolStore symbols_;
  std::map<std::string, std::shared_ptr<const symbols::SymbolTable>> tables_;
  std::map<std::string, std::shared_ptr<const symbols::ElfFile>> files_;
};

}  // namespace loft::source::virtual_pmu
