// Which line of source code an instruction of a run under the engine belongs to.
//
//   LineParts lines(functions);
//   const auto number = lines.find(block, address);
//   lines.lines()[number].file;
//
// Code without debug information is one part for each binary.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sample/code_details.hpp"
#include "source/virtual/functions.hpp"
#include "source/virtual/lines.hpp"

namespace loft::source::virtual_pmu {

class LineParts {
 public:
  explicit LineParts(FunctionFinder& functions) : functions_(functions) {}

  [[nodiscard]] std::uint32_t find(const engine::BlockEntry& block, std::uint64_t address);
  // Without counts.
  [[nodiscard]] const std::vector<sample::LineCounts>& lines() const { return lines_; }

 private:
  FunctionFinder& functions_;
  LineFinder finder_;
  std::vector<sample::LineCounts> lines_;
  std::map<std::tuple<std::string, std::string, unsigned>, std::uint32_t> index_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> known_;  // mapping, address
};

}  // namespace loft::source::virtual_pmu
