#include "source/virtual/functions.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/file.hpp"

namespace loft::source::virtual_pmu {
namespace {

using sample::symbols::SymbolOptions;

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
  if (sample::symbols::is_without_file(place.binary)) {
    if (place.binary.empty()) place.binary = kMemory;
    place.table = symbols_.open_jit(static_cast<pid_t>(entry.process));
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

// A file that was written anew since would give wrong names. Its bytes tell.
bool FunctionFinder::is_from_file(const engine::BlockEntry& block, Place& place) {
  if (place.file == nullptr) return true;
  if (place.was_replaced) return false;
  const auto code = shared_.code(block);
  const auto bytes = place.file->bytes();
  const std::uint64_t offset = block.address - place.start + place.file_offset;
  if (offset <= bytes.size() && code.size() <= bytes.size() - offset &&
      std::memcmp(bytes.data() + offset, code.data(), code.size()) == 0)
    return true;
  place.was_replaced = true;
  notes_.push_back(fmt::format(
      "'{}' is not the file that ran: it was changed or removed; its functions have no names",
      place.binary));
  return false;
}

std::uint32_t FunctionFinder::named(const sample::symbols::Symbol& symbol, const Place& place) {
  const auto [known, is_new] =
      by_symbol_.try_emplace(&symbol, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.push_back({std::string(symbol.name), place.binary, symbol.start});
  return known->second;
}

// Instructions without a symbol are named by the first such one of their block.
std::uint32_t FunctionFinder::unnamed(const engine::BlockEntry& block, const Place& place,
                                      std::uint64_t address) {
  if (last_.code_offset == block.code_offset && !last_.is_named) return last_.function;
  const std::uint64_t shown = place.table->address_of(address, place.start, place.file_offset);
  std::string name = place.was_replaced || place.file == nullptr
                         ? fmt::format("{}+{:#x}", base_name(place.binary), shown)
                         : place.table->describe(shown);
  const auto [known, is_new] = by_address_.try_emplace(
      place.binary + '\0' + name, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.push_back({std::move(name), place.binary, shown});
  return known->second;
}

std::uint64_t FunctionFinder::address_in_binary(const engine::BlockEntry& block,
                                                std::uint64_t address) {
  const Place& place = place_of(block.mapping);
  return place.table->address_of(address, place.start, place.file_offset);
}

std::uint32_t FunctionFinder::find(const engine::BlockEntry& block, std::uint64_t address) {
  const bool same_block = last_.code_offset == block.code_offset;
  if (same_block && last_.is_named && address >= last_.start && address < last_.end)
    return last_.function;
  Place& place = place_of(block.mapping);
  const bool is_trusted = same_block ? last_.is_trusted : is_from_file(block, place);
  const std::uint64_t inside = place.table->address_of(address, place.start, place.file_offset);
  if (const auto* symbol = is_trusted ? place.table->find(inside) : nullptr) {
    const std::uint64_t start = address - (inside - symbol->start);
    last_ = {block.code_offset, start, start + symbol->size, named(*symbol, place), true, true};
  } else {
    last_ = {block.code_offset, 0, 0, unnamed(block, place, address), false, is_trusted};
  }
  return last_.function;
}

}  // namespace loft::source::virtual_pmu
