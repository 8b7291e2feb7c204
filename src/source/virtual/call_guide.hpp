// Chooses the functions whose calls are watched, as the program maps their binaries, and numbers
// them.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/shared.hpp"
#include "sample/call_request.hpp"
#include "sample/calls.hpp"
#include "symbols/symbol_store.hpp"

namespace loft::source::virtual_pmu {

class CallGuide {
 public:
  explicit CallGuide(const sample::CallRequest& request);

  // Where the chosen functions start in a mapping. A function that is mapped again keeps its
  // number.
  [[nodiscard]] std::vector<engine::Shared::FunctionStart> starts_in(
      const engine::MappingEntry& mapping);

  // By number. Only when nobody asks any more.
  [[nodiscard]] std::vector<sample::WatchedFunction> take_functions() {
    return std::move(functions_);
  }
  // Of all binaries that were mapped.
  [[nodiscard]] std::vector<std::string> paths() const;
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  struct Chosen {
    std::uint64_t address = 0;
    std::uint32_t function = 0;
  };
  const std::vector<Chosen>& chosen_in(const std::string& path, const symbols::SymbolTable& table);

  const sample::CallRequest& request_;
  symbols::SymbolStore symbols_;
  std::unordered_map<std::string, std::vector<Chosen>> binaries_;
  std::vector<sample::WatchedFunction> functions_;
  std::size_t left_out_ = 0;  // for want of numbers
};

}  // namespace loft::source::virtual_pmu
