#include "roof/loop_work.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "roof/work_events.hpp"

namespace loft::roof {
namespace {

struct FunctionBlocks {
  std::vector<RunBlock> blocks;
  std::vector<model::Work> works;  // of the blocks
};

class BlockReader {
 public:
  explicit BlockReader(const sample::RunCounts& counted)
      : names_(names_of(counted)), columns_(names_) {
    const auto taken = std::ranges::find_if(
        names_, [](const std::string& name) { return name.ends_with(kTakenEvent); });
    if (taken != names_.end()) taken_ = static_cast<std::size_t>(taken - names_.begin());
  }

  [[nodiscard]] bool can_read() const { return taken_ && columns_.instructions(); }

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

void add_loops(const FunctionKey& key, const FunctionBlocks& function,
               std::vector<LoopWork>& loops) {
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
    for (const std::size_t block : loop.blocks) {
      found.work += function.works[block];
      found.facts.start = std::min(found.facts.start, function.blocks[block].offset);
    }
    loops.push_back(std::move(found));
  }
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

std::vector<LoopWork> loops_of(const sample::RunCounts& counted) {
  const BlockReader reader(counted);
  if (!reader.can_read()) return {};
  std::map<FunctionKey, FunctionBlocks> functions;
  for (const sample::BlockCounts& block : counted.blocks)
    reader.add(block, functions[{block.function, block.binary}]);
  std::vector<LoopWork> loops;
  for (const auto& [key, function] : functions) add_loops(key, function, loops);
  return loops;
}

}  // namespace loft::roof
