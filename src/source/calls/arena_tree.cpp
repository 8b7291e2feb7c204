// The tree of calls as the agent keeps it: a table of nodes that name their parents by number.
#ifdef LOFT_HAS_ENGINE

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "source/calls/arena.hpp"

namespace loft::source::calls {
namespace {

// Puts parents before their children. A program may have written anything: a node whose parent is
// not there, or that is its own ancestor, is left out.
class TreeReader {
 public:
  TreeReader(const std::vector<loft_calls_node>& table, std::uint32_t functions)
      : table_(table), functions_(functions), index_of_(table.size(), kUnknown) {}

  std::vector<ReadNode> run() {
    for (std::size_t i = 1; i < table_.size(); ++i)
      if (table_[i].key != 0) add(i);
    return std::move(nodes_);
  }
  // Of the tree that run() gave.
  [[nodiscard]] std::uint32_t index_at(std::size_t at) const {
    return at < index_of_.size() && index_of_[at] < kBad ? index_of_[at] : kUnknown;
  }
  [[nodiscard]] std::uint32_t index_of(std::uint32_t number) const {
    return index_at(number / LOFT_CALLS_NODE_SIZE);
  }

 private:
  static constexpr std::uint32_t kUnknown = sample::kNoCallNode;
  static constexpr std::uint32_t kBad = kUnknown - 1;

  void add(std::size_t at) {
    std::vector<std::size_t> path;
    std::uint32_t parent = sample::kNoCallNode;
    for (;;) {
      if (index_of_[at] == kBad) return;  // as are those that led here
      if (index_of_[at] != kUnknown) {
        parent = index_of_[at];
        break;
      }
      index_of_[at] = kBad;
      path.push_back(at);
      const std::uint64_t above = (table_[at].key >> 32) / LOFT_CALLS_NODE_SIZE;
      if (above == 0) break;
      if (above >= table_.size() || table_[above].key == 0) return;
      at = above;
    }
    for (auto next = path.rbegin(); next != path.rend(); ++next) {
      const auto offset = static_cast<std::uint32_t>(table_[*next].key);
      const std::uint32_t function = (offset - LOFT_CALLS_SUMS) / LOFT_CALLS_SUMS_SIZE;
      if (offset < LOFT_CALLS_SUMS || function >= functions_) return;
      index_of_[*next] = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({parent, function, table_[*next], {}});
      parent = index_of_[*next];
    }
  }

  const std::vector<loft_calls_node>& table_;
  std::uint32_t functions_;
  std::vector<std::uint32_t> index_of_;
  std::vector<ReadNode> nodes_;
};

}  // namespace

std::vector<loft_calls_node> Arena::all_nodes(std::uint32_t context) const {
  std::vector<loft_calls_node> table(LOFT_CALLS_NODE_COUNT);
  const auto offset = static_cast<off_t>(context * context_size_ + nodes_at());
  const ssize_t got =
      ::pread(fd_.get(), table.data(), table.size() * sizeof(loft_calls_node), offset);
  table.resize(got < 0 ? 0 : static_cast<std::size_t>(got) / sizeof(loft_calls_node));
  return table;
}

std::vector<ReadNode> Arena::nodes(std::uint32_t context, std::uint64_t now,
                                   std::uint64_t& lost) const {
  const loft_calls_context head = head_of(context);
  if (head.node_count == 0) return {};
  now -= head.skew;
  const std::vector<loft_calls_node> table = all_nodes(context);
  if (table.empty()) return {};
  lost += table[0].calls;
  TreeReader reader(table, options_.functions);
  std::vector<ReadNode> nodes = reader.run();
  if (options_.counters != 0) {
    std::vector<loft_calls_counts> counts(table.size());
    const auto at = static_cast<off_t>(context * context_size_ + count_tables().nodes);
    const std::size_t size = counts.size() * sizeof(loft_calls_counts);
    if (::pread(fd_.get(), counts.data(), size, at) == static_cast<ssize_t>(size))
      for (std::size_t i = 1; i < counts.size(); ++i)
        if (const std::uint32_t index = reader.index_at(i); index < nodes.size())
          nodes[index].counts = counts[i];
  }
  const std::vector<OpenCall> open = open_calls(context);
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::uint32_t index = reader.index_of(open[i].node);
    if (index >= nodes.size() || open[i].start > now) continue;
    loft_calls_node& sums = nodes[index].sums;
    const std::uint64_t end = i + 1 < open.size() ? std::min(now, open[i + 1].start) : now;
    const std::uint64_t own = end - std::min(end, open[i].start);
    sums.calls += 1;
    sums.sum += now - open[i].start;
    sums.own += own - std::min(own, open[i].child);
  }
  return nodes;
}

}  // namespace loft::source::calls

#endif
