#include "roof/loops.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace loft::roof {
namespace {

// Tarjan's strongly connected components, without recursion: functions may have 100,000 blocks.
class Components {
 public:
  // `members` rise. Edges are between members.
  Components(const std::vector<std::size_t>& members, const std::vector<FlowEdge>& edges)
      : members_(members), next_(members.size()), state_(members.size()) {
    for (const FlowEdge& edge : edges) next_[place_of(edge.from)].push_back(place_of(edge.to));
  }

  // Each component with more than one block, or with an edge to itself.
  std::vector<std::vector<std::size_t>> cycles() {
    for (std::size_t place = 0; place < members_.size(); ++place) {
      if (state_[place].number == 0) visit(place);
    }
    return std::move(found_);
  }

 private:
  struct State {
    std::size_t number = 0;  // in order of the first visit; 0: not visited
    std::size_t low = 0;
    bool is_open = false;
  };
  struct Frame {
    std::size_t place = 0;
    std::size_t edge = 0;
  };

  [[nodiscard]] std::size_t place_of(std::size_t block) const {
    const auto found = std::lower_bound(members_.begin(), members_.end(), block);
    return static_cast<std::size_t>(found - members_.begin());
  }

  void open(std::size_t place) {
    ++visited_;
    state_[place] = {visited_, visited_, true};
    open_.push_back(place);
    frames_.push_back({place, 0});
  }

  void visit(std::size_t root) {
    open(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::size_t place = frame.place;
      if (frame.edge < next_[place].size()) {
        const std::size_t to = next_[place][frame.edge++];
        if (state_[to].number == 0) {
          open(to);
        } else if (state_[to].is_open) {
          state_[place].low = std::min(state_[place].low, state_[to].number);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        State& above = state_[frames_.back().place];
        above.low = std::min(above.low, state_[place].low);
      }
      if (state_[place].low == state_[place].number) close(place);
    }
  }

  void close(std::size_t root) {
    std::vector<std::size_t> component;
    std::size_t place = root;
    do {
      place = open_.back();
      open_.pop_back();
      state_[place].is_open = false;
      component.push_back(members_[place]);
    } while (place != root);
    const auto& next = next_[root];
    if (component.size() > 1 || std::find(next.begin(), next.end(), root) != next.end()) {
      std::sort(component.begin(), component.end());
      found_.push_back(std::move(component));
    }
  }

  const std::vector<std::size_t>& members_;
  std::vector<std::vector<std::size_t>> next_;  // by place in members_
  std::vector<State> state_;
  std::vector<std::size_t> open_;
  std::vector<Frame> frames_;
  std::vector<std::vector<std::size_t>> found_;
  std::size_t visited_ = 0;
};

class LoopFinder {
 public:
  explicit LoopFinder(const FlowGraph& graph) : graph_(graph) {}

  std::vector<Loop> find() {
    const std::size_t count = graph_.blocks.size();
    Part whole;
    for (std::size_t i = 0; i < count; ++i) whole.blocks.push_back(i);
    into_.resize(count);
    for (const FlowEdge& edge : graph_.edges) {
      if (edge.from >= count || edge.to >= count) continue;
      whole.edges.push_back(edge);
      into_[edge.to].push_back(edge);
    }
    pending_.push_back(std::move(whole));
    while (!pending_.empty()) {
      const Part part = std::move(pending_.back());
      pending_.pop_back();
      divide(part);
    }
    return in_order();
  }

 private:
  struct Part {
    std::vector<std::size_t> blocks;
    std::vector<FlowEdge> edges;
    std::optional<std::size_t> parent;
    int depth = 1;
  };

  void divide(const Part& part) {
    std::map<std::size_t, std::vector<FlowEdge>> inside;  // by cycle
    auto cycles = Components(part.blocks, part.edges).cycles();
    std::unordered_map<std::size_t, std::size_t> cycle_of;
    for (std::size_t i = 0; i < cycles.size(); ++i) {
      for (const std::size_t block : cycles[i]) cycle_of[block] = i;
    }
    for (const FlowEdge& edge : part.edges) {
      const auto from = cycle_of.find(edge.from), to = cycle_of.find(edge.to);
      if (from != cycle_of.end() && to != cycle_of.end() && from->second == to->second)
        inside[from->second].push_back(edge);
    }
    for (std::size_t i = 0; i < cycles.size(); ++i)
      add(part, std::move(cycles[i]), std::move(inside[i]));
  }

  void add(const Part& part, std::vector<std::size_t> cycle, std::vector<FlowEdge> inside) {
    std::map<std::size_t, std::uint64_t> entered;  // from blocks that are not in the cycle
    for (const std::size_t block : cycle) {
      for (const FlowEdge& edge : into_[block]) {
        if (!std::binary_search(cycle.begin(), cycle.end(), edge.from))
          entered[block] += edge.count;
      }
    }
    Loop loop;
    loop.header = header_of(cycle, entered);
    loop.iterations = graph_.blocks[loop.header].count;
    for (const auto& [block, count] : entered) loop.entries += count;
    loop.parent = part.parent;
    loop.depth = part.depth;
    std::erase_if(inside, [&](const FlowEdge& edge) { return edge.to == loop.header; });
    pending_.push_back({cycle, std::move(inside), loops_.size(), part.depth + 1});
    loop.blocks = std::move(cycle);
    loops_.push_back(std::move(loop));
  }

  // Where it is entered most often; where no entry was seen, its first block.
  [[nodiscard]] std::size_t header_of(const std::vector<std::size_t>& cycle,
                                      const std::map<std::size_t, std::uint64_t>& entered) const {
    std::size_t header = *std::min_element(cycle.begin(), cycle.end(), [&](auto a, auto b) {
      return graph_.blocks[a].address < graph_.blocks[b].address;
    });
    std::uint64_t most = 0;
    for (const auto& [block, count] : entered) {
      if (count > most) {
        most = count;
        header = block;
      }
    }
    return header;
  }

  [[nodiscard]] std::vector<Loop> in_order() const {
    std::vector<std::size_t> order(loops_.size()), place(loops_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
      if (loops_[a].depth != loops_[b].depth) return loops_[a].depth < loops_[b].depth;
      return graph_.blocks[loops_[a].header].address < graph_.blocks[loops_[b].header].address;
    });
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::vector<Loop> sorted;
    for (const std::size_t i : order) {
      sorted.push_back(loops_[i]);
      if (sorted.back().parent) sorted.back().parent = place[*sorted.back().parent];
    }
    return sorted;
  }

  const FlowGraph& graph_;
  std::vector<std::vector<FlowEdge>> into_;  // by the block they end in
  std::vector<Part> pending_;
  std::vector<Loop> loops_;
};

}  // namespace

std::optional<double> Loop::trips() const {
  if (entries == 0) return std::nullopt;
  return static_cast<double>(iterations) / static_cast<double>(entries);
}

std::vector<Loop> find_loops(const FlowGraph& graph) { return LoopFinder(graph).find(); }

}  // namespace loft::roof
