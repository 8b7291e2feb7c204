// Functions that the recording itself brings along, for binaries that are not at hand: those of a
// phone, most often.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loft/perf_data/metadata.hpp"
#include "symbols/demangle.hpp"
#include "symbols/symbol_table.hpp"

namespace loft::symbols {

class RecordedSymbols : public std::enable_shared_from_this<RecordedSymbols> {
 public:
  explicit RecordedSymbols(std::vector<perf_data::RecordedBinary> binaries);

  [[nodiscard]] bool has(std::string_view path) const { return by_path_.contains(path); }

  // Names for `parts.binary`, in the addresses of the file that was found, else in offsets of the
  // file that was not. Leaves `parts` alone where the recording knows none.
  void fill(NameStyle style, SymbolTable::Parts& parts) const;

  // Names for code that was made while the program ran: it is known by where it ran.
  [[nodiscard]] SymbolTable::Parts made_code(const std::string& path, NameStyle style) const;

 private:
  void fill_moved(std::string_view path, std::uint64_t distance, NameStyle style,
                  SymbolTable::Parts& parts) const;

  std::vector<perf_data::RecordedBinary> binaries_;
  std::unordered_map<std::string_view, std::size_t> by_path_;
};

}  // namespace loft::symbols
