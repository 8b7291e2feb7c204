#include "source/virtual/region.hpp"

#include "symbols/symbol_store.hpp"

namespace loft::source::virtual_pmu {
namespace {

using namespace std::chrono_literals;
using symbols::SymbolStore;

std::vector<std::uint64_t> starts_in(const engine::MappingEntry& mapping, SymbolStore& symbols,
                                     const std::string& function) {
  std::vector<std::uint64_t> starts;
  if (symbols::is_memory(mapping.path)) return starts;
  const auto table = symbols.open({.path = mapping.path});
  const std::uint64_t first = table->address_of(mapping.start, mapping.start, mapping.file_offset);
  for (const auto* symbol : table->named(function)) {
    const std::uint64_t distance = symbol->start - first;
    if (symbol->start >= first && distance < mapping.end - mapping.start)
      starts.push_back(mapping.start + distance);
  }
  return starts;
}

// The number comes before the entry. A process that was killed in between never writes it.
engine::MappingEntry complete_mapping(const engine::Shared& shared, std::uint32_t number) {
  engine::MappingEntry mapping = shared.mapping(number);
  for (int tries = 0; mapping.end == 0 && tries < 1000; ++tries) {
    std::this_thread::sleep_for(1ms);
    mapping = shared.mapping(number);
  }
  return mapping;
}

}  // namespace

RegionGuide::RegionGuide(engine::Shared& shared, std::string function)
    : shared_(shared), function_(std::move(function)) {
  shared_.ask_for_region();
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

RegionGuide::~RegionGuide() {
  thread_.request_stop();
  thread_.join();
  shared_.answer(engine::kMaxMappings - 1, {});
}

void RegionGuide::work(const std::stop_token& stop) {
  symbols::SymbolOptions options;
  options.debug_info = false;
  SymbolStore symbols(options);
  std::uint32_t answered = 0;
  while (!stop.stop_requested()) {
    const std::uint32_t known = shared_.await_mapping(answered, 20ms);
    for (; answered < known; ++answered)
      shared_.answer(answered, starts_in(complete_mapping(shared_, answered), symbols, function_));
  }
}

}  // namespace loft::source::virtual_pmu
