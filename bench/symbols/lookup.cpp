// lookup FILE ADDRESSES
//
// What `addr2line -fi -e FILE @ADDRESSES` does, by loft's own readers: for each address
// (hexadecimal, one per line) the functions it is in, innermost first, each with its line.
#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "symbols/symbol_store.hpp"

namespace {

using namespace loft;
using namespace loft::symbols;

void print_frames(const SymbolTable& table, std::uint64_t address) {
  SourceLine place = table.line(address).value_or(SourceLine{"??", 0});
  const auto inlined = table.inlined(address);
  for (auto frame = inlined.rbegin(); frame != inlined.rend(); ++frame) {
    fmt::print("{}\n{}:{}\n", printable(frame->function), printable(place.file), place.line);
    place = frame->call;
  }
  const Symbol* symbol = table.find(address);
  fmt::print("{}\n{}:{}\n", symbol ? printable(symbol->name) : table.describe(address),
             printable(place.file), place.line);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const auto list = read_file(words[2]);
  if (!list) return 1;
  SymbolStore store;
  const auto table = store.open({.path = words[1]});
  for (const std::string_view line : split(*list, '\n'))
    if (const auto address = parse_u64(line)) print_frames(*table, *address);
  return 0;
}
