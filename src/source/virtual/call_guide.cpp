#ifdef LOFT_HAS_ENGINE
#include "source/virtual/call_guide.hpp"

#include "engine/call_layout.hpp"

namespace loft::source::virtual_pmu {
namespace {

symbols::SymbolOptions without_debug_info() {
  symbols::SymbolOptions options;
  options.debug_info = false;
  return options;
}

}  // namespace

CallGuide::CallGuide(const sample::CallRequest& request)
    : request_(request), symbols_(without_debug_info()) {}

const std::vector<CallGuide::Chosen>& CallGuide::chosen_in(const std::string& path,
                                                           const symbols::SymbolTable& table) {
  const auto [known, is_new] = binaries_.try_emplace(path);
  if (!is_new || !is_chosen_binary(request_, path)) return known->second;
  for (const symbols::Symbol* symbol : table.functions()) {
    if (!sample::matches_any(request_.patterns, std::string(symbol->name))) continue;
    if (functions_.size() == engine::kMaxCallFunctions) {
      ++left_out_;
      continue;
    }
    known->second.push_back({symbol->start, static_cast<std::uint32_t>(functions_.size())});
    sample::WatchedFunction& function = functions_.emplace_back();
    function.name = symbol->name;
    function.dso = path;
    function.address = symbol->start;
  }
  return known->second;
}

std::vector<std::string> CallGuide::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, chosen] : binaries_) paths.push_back(path);
  return paths;
}

std::vector<engine::Shared::FunctionStart> CallGuide::starts_in(
    const engine::MappingEntry& mapping) {
  std::vector<engine::Shared::FunctionStart> starts;
  if (symbols::is_memory(mapping.path)) return starts;
  const auto table = symbols_.open({.path = mapping.path});
  const std::uint64_t first = table->address_of(mapping.start, mapping.start, mapping.file_offset);
  for (const Chosen& chosen : chosen_in(mapping.path, *table))
    if (chosen.address >= first && chosen.address - first < mapping.end - mapping.start)
      starts.push_back({mapping.start + (chosen.address - first), chosen.function});
  return starts;
}

}  // namespace loft::source::virtual_pmu
#endif
