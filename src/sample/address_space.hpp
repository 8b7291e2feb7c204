// Address spaces as versions over time.
//
// Every change of a process's mappings makes a new version that shares nearly all of its nodes with
// the one before (a persistent treap, ordered by address). A version is one number, a root; a fork
// copies a number, an exec starts at 0. So any moment of any process can be asked in any order, by
// several threads, and the memory follows the number of mappings alone.
//
//   AddressSpaces spaces;
//   const auto before = spaces.map(AddressSpaces::kEmpty, {0x1000, 0x2000, mapping});
//   const auto after = spaces.map(before, {0x1800, 0x1900, other});
//   spaces.find(before, 0x1850);   // mapping
//   spaces.find(after, 0x1850);    // other
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace loft::sample {

class AddressSpaces {
 public:
  using Root = std::uint32_t;
  static constexpr Root kEmpty = 0;
  static constexpr std::uint32_t kNothing = 0xFFFFFFFF;

  struct Range {
    std::uint64_t start = 0;
    std::uint64_t end = 0;  // behind the last address
    std::uint32_t value = kNothing;
  };

  AddressSpaces() : nodes_(1) {}

  // The version after `range` was mapped over whatever was there.
  [[nodiscard]] Root map(Root root, Range range);

  // What is mapped at `address`; kNothing when nothing is.
  [[nodiscard]] std::uint32_t find(Root root, std::uint64_t address) const {
    while (root != kEmpty) {
      const Node& node = nodes_[root];
      if (address < node.range.start) {
        root = node.left;
      } else {
        if (address < node.range.end) return node.range.value;
        root = node.right;
      }
    }
    return kNothing;
  }

 private:
  struct Node {
    Range range;
    Root left = kEmpty;
    Root right = kEmpty;
    std::uint32_t priority = 0;
  };

  Root add(const Node& node);
  // Ranges that start before `address`, and the others.
  std::pair<Root, Root> split(Root root, std::uint64_t address);
  Root merge(Root left, Root right);
  // Removes what reaches beyond `address` from the last range of `root`; the cut-off part comes
  // back.
  Range cut_last(Root& root, std::uint64_t address);

  std::vector<Node> nodes_;  // [0] stands for the empty space
  std::uint32_t next_priority_ = 1;
};

}  // namespace loft::sample
