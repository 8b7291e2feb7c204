#include "roof/loop_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "roof/work_events.hpp"
#include "source/virtual/lines.hpp"

namespace loft::roof {
namespace {

struct FunctionBlocks {
  std::vector<RunBlock> blocks;
  std::vector<model::Work> works;  // of the blocks
  std::vector<const std::vector<sample::BlockInstruction>*> codes;
};

// Instructions on vectors and floating-point numbers, by their width.
class VectorUse {
 public:
  void add(const std::vector<sample::BlockInstruction>& code, double count) {
    for (const sample::BlockInstruction& each : code) {
      if (each.vector_bits == 0) continue;
      const int width = std::max<int>(kOneNumber, each.vector_bits);
      (each.computes ? computing_ : moving_)[width] += count;
      if (width == kOneNumber) continue;
      vectors_ += count;
      if (each.is_masked) masked_ += count;
    }
  }
  // The widest that half of those that compute have, they or wider ones; of those that move, where
  // none computes.
  [[nodiscard]] std::optional<int> width() const {
    const auto& widths = computing_.empty() ? moving_ : computing_;
    double all = 0;
    for (const auto& [width, count] : widths) all += count;
    double wider = 0;
    for (auto each = widths.rbegin(); each != widths.rend(); ++each) {
      wider += each->second;
      if (wider * 2 >= all) return each->first;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> masked_share() const {
    return vectors_ > 0 ? std::optional(masked_ / vectors_) : std::nullopt;
  }

 private:
  static constexpr int kOneNumber = 64;
  std::map<int, double> computing_, moving_;
  double vectors_ = 0;
  double masked_ = 0;
};

std::optional<std::size_t> taken_among(std::span<const std::string> names) {
  const auto taken = std::ranges::find_if(
      names, [](const std::string& name) { return name.ends_with(kTakenEvent); });
  if (taken == names.end()) return std::nullopt;
  return static_cast<std::size_t>(taken - names.begin());
}

class BlockReader {
 public:
  explicit BlockReader(const sample::RunCounts& counted)
      : names_(names_of(counted)), columns_(names_) {
    taken_ = taken_among(names_);
  }

  [[nodiscard]] bool can_read() const { return can_find_loops(names_); }

  void add(const sample::BlockCounts& block, FunctionBlocks& to) const {
    const auto work = columns_.work_in(block.counts);
    if (!work || !work->instructions || block.code.empty() || *taken_ >= block.counts.size() ||
        !block.counts[*taken_].is_available())
      return;
    const auto instructions = static_cast<std::uint64_t>(*work->instructions);
    RunBlock run;
    run.flow = {block.address, block.end, instructions / block.code.size()};
    if (run.flow.count == 0) return;
    run.offset = block.offset;
    run.taken = static_cast<std::uint64_t>(block.counts[*taken_].value());
    run.target = block.target;
    run.goes_on = block.goes_on;
    to.blocks.push_back(run);
    to.works.push_back(*work);
    to.codes.push_back(&block.instructions);
  }

 private:
  static std::vector<std::string> names_of(const sample::RunCounts& counted) {
    std::vector<std::string> names;
    for (const sample::CountedEvent& event : counted.events) names.push_back(event.name);
    return names;
  }

  std::vector<std::string> names_;
  WorkColumns columns_;
  std::optional<std::size_t> taken_;
};

std::string lines_of(const Loop& loop, const FlowGraph& graph, const std::string& binary,
                     const LineAt& line_at) {
  const CodeLine header = line_at(binary, graph.blocks[loop.header].address);
  if (header.line == 0) return {};
  unsigned first = header.line;
  unsigned last = header.line;
  for (const std::size_t block : loop.blocks)
    for (std::uint64_t at = graph.blocks[block].address; at < graph.blocks[block].end; ++at) {
      const CodeLine here = line_at(binary, at);
      if (here.line == 0 || here.file != header.file) continue;
      first = std::min(first, here.line);
      last = std::max(last, here.line);
    }
  const std::string file = header.file.substr(header.file.rfind('/') + 1);
  return first == last ? fmt::format("{}:{}", file, first)
                       : fmt::format("{}:{}-{}", file, first, last);
}

void add_loops(const FunctionKey& key, const FunctionBlocks& function, double least,
               const LineAt& line_at, std::vector<LoopWork>& loops) {
  const FlowGraph graph = graph_of(function.blocks);
  for (const Loop& loop : find_loops(graph)) {
    LoopWork found;
    found.function = key;
    found.facts.address = graph.blocks[loop.header].address;
    found.facts.offset = function.blocks[loop.header].offset;
    found.facts.depth = loop.depth;
    found.facts.iterations = static_cast<double>(loop.iterations);
    found.facts.trips = trips_of(loop, graph, function.blocks);
    found.facts.start = found.facts.offset;
    VectorUse vectors;
    for (const std::size_t block : loop.blocks) {
      found.work += function.works[block];
      found.facts.start = std::min(found.facts.start, function.blocks[block].offset);
      found.code.push_back({graph.blocks[block].address, graph.blocks[block].end});
      vectors.add(*function.codes[block], static_cast<double>(graph.blocks[block].count));
    }
    std::ranges::sort(found.code, {}, &CodeRange::start);
    found.facts.vector_bits = vectors.width();
    found.facts.masked_share = vectors.masked_share();
    if (line_at && found.work.instructions.value_or(0) >= least)
      found.facts.lines = lines_of(loop, graph, key.binary, line_at);
    loops.push_back(std::move(found));
  }
}

// What a loop of the same lines, with wider instructions, left over: fewer trips than one of its
// vectors has bytes.
bool is_remainder_of(const LoopWork& loop, const LoopWork& wider) {
  return !loop.facts.lines.empty() && loop.facts.lines == wider.facts.lines &&
         loop.facts.depth == wider.facts.depth && loop.facts.trips && wider.facts.vector_bits &&
         loop.facts.vector_bits < wider.facts.vector_bits &&
         *loop.facts.trips < *wider.facts.vector_bits / 8;
}

void mark_remainders(std::span<LoopWork> of_function) {
  for (LoopWork& loop : of_function)
    loop.facts.is_remainder = std::ranges::any_of(
        of_function, [&](const LoopWork& other) { return is_remainder_of(loop, other); });
}

}  // namespace

FlowGraph graph_of(const std::vector<RunBlock>& blocks) {
  FlowGraph graph;
  std::unordered_map<std::uint64_t, std::size_t> by_address;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    graph.blocks.push_back(blocks[i].flow);
    by_address.try_emplace(blocks[i].flow.address, i);
  }
  const auto connect = [&](std::size_t from, std::uint64_t address, std::uint64_t count) {
    const auto to = by_address.find(address);
    if (count > 0 && to != by_address.end()) graph.edges.push_back({from, to->second, count});
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const RunBlock& block = blocks[i];
    const std::uint64_t taken = block.target ? std::min(block.taken, block.flow.count) : 0;
    if (block.target) connect(i, *block.target, taken);
    if (block.goes_on) connect(i, block.flow.end, block.flow.count - taken);
  }
  return graph;
}

std::optional<double> trips_of(const Loop& loop, const FlowGraph& graph,
                               const std::vector<RunBlock>& blocks) {
  std::uint64_t entries = loop.entries;
  for (const std::size_t block : loop.blocks) {
    std::uint64_t known = 0;
    for (const FlowEdge& edge : graph.edges)
      if (edge.to == block) known += edge.count;
    const std::uint64_t count = graph.blocks[block].count;
    if (known == count) continue;
    if (known > count || blocks[block].offset != 0) return std::nullopt;
    entries += count - known;
  }
  if (entries == 0) return std::nullopt;
  return static_cast<double>(loop.iterations) / static_cast<double>(entries);
}

bool can_find_loops(std::span<const std::string> events) {
  const WorkColumns columns(events);
  return taken_among(events) && columns.are_complete() && columns.instructions();
}

std::vector<LoopWork> loops_of(const sample::RunCounts& counted, const LineAt& line_at) {
  constexpr double kWorthLines = 0.001;  // of all instructions
  const BlockReader reader(counted);
  if (!reader.can_read()) return {};
  std::map<FunctionKey, FunctionBlocks> functions;
  for (const sample::BlockCounts& block : counted.blocks)
    reader.add(block, functions[{block.function, block.binary}]);
  std::vector<LoopWork> loops;
  double all = 0;
  for (const auto& [key, function] : functions)
    for (const model::Work& work : function.works) all += work.instructions.value_or(0);
  for (const auto& [key, function] : functions) {
    const std::size_t before = loops.size();
    add_loops(key, function, kWorthLines * all, line_at, loops);
    mark_remainders(std::span(loops).subspan(before));
  }
  return loops;
}

std::vector<LoopWork> loops_with_lines(const sample::RunCounts& counted) {
  source::virtual_pmu::LineFinder lines;
  return loops_of(counted, [&](const std::string& binary, std::uint64_t address) {
    auto found = lines.find(binary, address);
    return CodeLine{std::move(found.file), found.line};
  });
}

}  // namespace loft::roof
