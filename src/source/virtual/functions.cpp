#include "source/virtual/functions.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "base/file.hpp"
#include "symbols/unwind_table.hpp"

namespace loft::source::virtual_pmu {
namespace {

using symbols::SymbolOptions;

constexpr std::string_view kMemory = "//anon";  // as perf calls it

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

SymbolOptions options_of_this_machine() {
  SymbolOptions options;
  options.debug_info = false;
  options.kernel_release = read_line("/proc/sys/kernel/osrelease").value_or("");
  return options;
}

}  // namespace

FunctionFinder::FunctionFinder(const engine::Shared& shared)
    : shared_(shared), symbols_(options_of_this_machine()) {}

FunctionFinder::Place& FunctionFinder::place_of(std::uint32_t mapping) {
  const auto [known, is_new] = places_.try_emplace(mapping);
  Place& place = known->second;
  if (!is_new) return place;
  const engine::MappingEntry entry = shared_.mapping(mapping);
  place.start = entry.start;
  place.file_offset = entry.file_offset;
  place.binary = entry.path;
  if (symbols::is_memory(place.binary)) {
    // A recording of perf_events knows all nameless memory by this word.
    if (place.binary.empty() || place.binary.starts_with("[anon")) place.binary = kMemory;
    place.is_memory = true;
    place.table = names_of_made_code(entry.process);
    return place;
  }
  place.table = symbols_.open({.path = place.binary});
  if (place.binary.starts_with('[')) return place;
  auto& file = files_[place.binary];
  if (file == nullptr) {
    auto mapped = Mapping::of_file(place.binary);
    file = std::make_shared<const Mapping>(mapped ? std::move(*mapped) : Mapping());
  }
  place.file = file;
  return place;
}

// A process that was forked runs what its parents made, too.
std::shared_ptr<const symbols::SymbolTable> FunctionFinder::names_of_made_code(
    std::uint32_t process) {
  constexpr int kMostParents = 16;
  std::map<std::uint32_t, std::string> dumps;  // by process
  for (const engine::MappingEntry& mapping : shared_.mappings())
    if (symbols::is_jit_dump(mapping.path)) dumps[mapping.process] = mapping.path;
  std::map<std::uint32_t, std::uint32_t> parents;
  for (const engine::SlotEntry& slot : shared_.slots()) parents[slot.process] = slot.parent;
  auto own = symbols_.open_jit(static_cast<pid_t>(process), dumps[process]);
  auto table = own;
  for (int i = 0; i < kMostParents && table->symbol_count() == 0; ++i) {
    process = parents[process];
    if (!parents.contains(process)) return own;
    table = symbols_.open_jit(static_cast<pid_t>(process), dumps[process]);
  }
  return table;
}

// A file that was written anew since would give wrong names. Its bytes tell.
bool FunctionFinder::is_from_file(const engine::BlockEntry& block, Place& place) {
  if (place.file == nullptr || checked_ == block.code_offset) return true;
  if (place.was_replaced) return false;
  const auto code = shared_.code(block);
  const auto bytes = place.file->bytes();
  const std::uint64_t offset = block.address - place.start + place.file_offset;
  if (offset <= bytes.size() && code.size() <= bytes.size() - offset &&
      std::memcmp(bytes.data() + offset, code.data(), code.size()) == 0) {
    checked_ = block.code_offset;
    return true;
  }
  place.was_replaced = true;
  notes_.push_back(fmt::format(
      "'{}' is not the file that ran: it was changed or removed; its functions have no names",
      place.binary));
  return false;
}

std::uint32_t FunctionFinder::intern(std::string name, const Place& place, std::uint64_t start) {
  const auto [known, is_new] = by_address_.try_emplace(
      place.binary + '\0' + name, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.push_back({std::move(name), place.binary, start});
  return known->second;
}

std::uint32_t FunctionFinder::named(const symbols::Symbol& symbol, const Place& place) {
  const auto [known, is_new] =
      by_symbol_.try_emplace(&symbol, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.push_back({std::string(symbol.name), place.binary, symbol.start});
  return known->second;
}

std::uint32_t FunctionFinder::unnamed(const Place& place, std::uint64_t start) {
  if (place.is_memory) return intern(std::string(symbols::kNamelessCode), place, 0);
  return intern(place.was_replaced || place.file == nullptr
                    ? fmt::format("{}+{:#x}", base_name(place.binary), start)
                    : place.table->describe(start),
                place, start);
}

// By symbol; else by where it starts: of stripped files the tables for unwinding tell that.
std::optional<std::uint32_t> FunctionFinder::known(const Place& place, std::uint64_t inside) {
  if (const auto* symbol = place.table->find(inside)) return named(*symbol, place);
  const auto* unwind = place.table->unwind_table();
  if (unwind == nullptr) return std::nullopt;
  const auto around = unwind->function_around(inside);
  if (!around) return std::nullopt;
  return unnamed(place, around->start);
}

std::uint64_t FunctionFinder::address_in_binary(const engine::BlockEntry& block,
                                                std::uint64_t address) {
  const Place& place = place_of(block.mapping);
  return place.table->address_of(address, place.start, place.file_offset);
}

std::uint32_t FunctionFinder::find(const engine::BlockEntry& block, std::uint64_t address) {
  Place& place = place_of(block.mapping);
  const std::uint64_t start =
      place.table->address_of(block.address, place.start, place.file_offset);
  if (!is_from_file(block, place)) return unnamed(place, start);
  const std::uint64_t inside = place.table->address_of(address, place.start, place.file_offset);
  if (const auto function = known(place, inside)) return *function;
  // Nobody knows where it starts: the block stands for it.
  return unnamed(place, known(place, start) ? inside : start);
}

}  // namespace loft::source::virtual_pmu
