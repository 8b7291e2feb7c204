#include "source/virtual/region.hpp"

#include <memory>

#include "symbols/symbol_store.hpp"

namespace loft::source::virtual_pmu {
namespace {

using namespace std::chrono_literals;
using symbols::SymbolStore;

std::vector<engine::Shared::FunctionStart> starts_in(const engine::MappingEntry& mapping,
                                                     SymbolStore& symbols,
                                                     const std::string& function) {
  std::vector<engine::Shared::FunctionStart> starts;
  if (symbols::is_memory(mapping.path)) return starts;
  const auto table = symbols.open({.path = mapping.path});
  const std::uint64_t first = table->address_of(mapping.start, mapping.start, mapping.file_offset);
  for (const auto* symbol : table->named(function)) {
    const std::uint64_t distance = symbol->start - first;
    if (symbol->start >= first && distance < mapping.end - mapping.start)
      starts.push_back({mapping.start + distance, 0});
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

MappingGuide::MappingGuide(engine::Shared& shared, Answer answer)
    : shared_(shared), answer_(std::move(answer)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

MappingGuide::~MappingGuide() {
  thread_.request_stop();
  thread_.join();
  shared_.answer(engine::kMaxMappings - 1, {});
}

void MappingGuide::work(const std::stop_token& stop) {
  std::uint32_t answered = 0;
  while (!stop.stop_requested()) {
    const std::uint32_t known = shared_.await_mapping(answered, 20ms);
    for (; answered < known; ++answered)
      shared_.answer(answered, answer_(complete_mapping(shared_, answered)));
  }
}

namespace {

MappingGuide::Answer answer_for_region(engine::Shared& shared, std::string function) {
  shared.ask_for_region();
  symbols::SymbolOptions options;
  options.debug_info = false;
  auto symbols = std::make_shared<SymbolStore>(options);
  return [symbols, function = std::move(function)](const engine::MappingEntry& mapping) {
    return starts_in(mapping, *symbols, function);
  };
}

}  // namespace

RegionGuide::RegionGuide(engine::Shared& shared, std::string function)
    : guide_(shared, answer_for_region(shared, std::move(function))) {}

}  // namespace loft::source::virtual_pmu
