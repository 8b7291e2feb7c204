// Inner loops of systems, second part: searches and simulations that choose by their data.
#include <map>
#include <variant>

#include "kernel.hpp"

using kernels::doubles;
using kernels::g_integer;
using kernels::kKiB;
using kernels::memory;
using kernels::random_below;
using kernels::random_number;

namespace {
std::map<std::uint32_t, std::uint32_t> g_map;
std::vector<std::uint32_t> g_wanted;
template <bool kRandom>
void prepare_map() {
  while (g_map.size() < 256) g_map[static_cast<std::uint32_t>(random_below(1U << 20))] = 1;
  std::vector<std::uint32_t> keys;
  for (const auto& entry : g_map) keys.push_back(entry.first);
  g_wanted.resize(32768);
  for (std::size_t i = 0; i < g_wanted.size(); ++i)
    g_wanted[i] = keys[kRandom ? random_below(256) : i % 4 * 61];
}
__attribute__((noinline)) void look_up_all() {
  std::uint64_t sum = 0;
  for (const std::uint32_t key : g_wanted) sum += g_map.find(key)->second;
  g_integer = sum;
}
}  // namespace
KERNEL(map_lookups, "mispredictions", 32768, prepare_map<true>) { look_up_all(); }
RELIEVED(map_lookups, 32768, prepare_map<false>) { look_up_all(); }

// The next event of a simulation is taken from a heap, and comes back later.
namespace {
constexpr std::uint32_t kEvents = 1023;
std::uint64_t g_heap[kEvents + 1];
void prepare_events() {
  for (auto& event : g_heap) event = random_below(1 << 20);
  std::sort(g_heap, g_heap + kEvents);
}
template <bool kBranches>
__attribute__((always_inline)) inline void simulate() {
  for (int i = 0; i < 4096; ++i) {
    const std::uint64_t again = g_heap[0] + (random_number() >> 44);
    std::uint32_t hole = 0;
    for (std::uint32_t child = 1; child + 1 < kEvents; child = 2 * hole + 1) {
      if (kBranches) {
        if (g_heap[child + 1] < g_heap[child]) {
          asm volatile("");
          ++child;
        }
      } else {
        child += g_heap[child + 1] < g_heap[child] ? 1 : 0;
      }
      if (again <= g_heap[child]) break;
      g_heap[hole] = g_heap[child];
      hole = child;
    }
    g_heap[hole] = again;
  }
}
}  // namespace
KERNEL(event_queue, "mispredictions", 4096, prepare_events) { simulate<true>(); }
RELIEVED(event_queue, 4096, prepare_events) {
  simulate<false>();
}  // the earlier child by arithmetic

// Neighbours within a cutoff feel a force. Sorted by distance there are as many.
namespace {
constexpr std::size_t kNeighbours = 131072;  // a predictor remembers some 50,000
struct Neighbour {
  std::int16_t x, y, z;
};
std::vector<Neighbour> g_neighbours;
template <bool kSorted>
void prepare_neighbours() {
  const auto length = [](const Neighbour& n) { return n.x * n.x + n.y * n.y + n.z * n.z; };
  const auto place = [] { return static_cast<std::int16_t>(random_below(2000) - 1000); };
  g_neighbours.resize(kNeighbours);
  for (auto& neighbour : g_neighbours) neighbour = {place(), place(), place()};
  if (kSorted)
    std::sort(g_neighbours.begin(), g_neighbours.end(),
              [&](const auto& a, const auto& b) { return length(a) < length(b); });
}
__attribute__((noinline)) void add_forces() {
  auto* force = reinterpret_cast<float*>(memory(4 * kKiB));
  std::uint32_t count = 0;
  for (const Neighbour& n : g_neighbours) {
    const int squared = n.x * n.x + n.y * n.y + n.z * n.z;
    if (squared < 950000) {
      asm volatile("");
      const float far = static_cast<float>(squared);
      force[count & 1023] = (far - 0.5F) * (far * far + 0.1F);
      ++count;
    }
  }
  g_integer = count;
}
}  // namespace
KERNEL(cutoff_pairs, "mispredictions", kNeighbours, prepare_neighbours<false>) { add_forces(); }
RELIEVED(cutoff_pairs, kNeighbours, prepare_neighbours<true>) { add_forces(); }

namespace {
struct Circle {
  float radius;
};
struct Square {
  float side;
};
struct Triangle {
  float base;
};
struct Point {
  float none;
};
struct Star {
  float spike;
};
using Shape = std::variant<Circle, Square, Triangle, Point, Star>;
std::vector<Shape> g_shapes;
template <bool kSorted>
void prepare_shapes() {
  g_shapes.clear();
  for (int i = 0; i < 65536; ++i) switch (random_below(5)) {
      case 0:
        g_shapes.push_back(Circle{1});
        break;
      case 1:
        g_shapes.push_back(Square{2});
        break;
      case 2:
        g_shapes.push_back(Triangle{3});
        break;
      case 3:
        g_shapes.push_back(Point{4});
        break;
      default:
        g_shapes.push_back(Star{5});
    }
  if (kSorted)
    std::sort(g_shapes.begin(), g_shapes.end(),
              [](const auto& a, const auto& b) { return a.index() < b.index(); });
}
struct Area {
  float* to;
  void operator()(const Circle& c) const { to[0] = c.radius * c.radius * 3.14F; }
  void operator()(const Square& s) const { to[1] = s.side * s.side; }
  void operator()(const Triangle& t) const { to[2] = t.base * t.base * 0.43F; }
  void operator()(const Point& p) const { to[3] = p.none; }
  void operator()(const Star& s) const { to[4] = s.spike * 5; }
};
__attribute__((noinline)) void visit_shapes() {
  auto* to = reinterpret_cast<float*>(memory(4 * kKiB));
  for (const Shape& shape : g_shapes) std::visit(Area{to}, shape);
}
}  // namespace
KERNEL(variant_visit, "mispredictions", 65536, prepare_shapes<false>) { visit_shapes(); }
RELIEVED(variant_visit, 65536, prepare_shapes<true>) { visit_shapes(); }

// Rows of a sparse matrix: a few elements each, as many as there are in the mean, or exactly.
namespace {
constexpr std::uint32_t kRows = 65536;
std::vector<std::uint32_t> g_row_starts;
std::vector<std::uint16_t> g_columns;
template <bool kRandom>
void prepare_rows() {
  g_row_starts.assign(1, 0);
  g_columns.clear();
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const std::uint64_t length = kRandom ? 1 + random_below(7) : 4;
    for (std::uint64_t k = 0; k < length; ++k)
      g_columns.push_back(static_cast<std::uint16_t>(random_below(1024)));
    g_row_starts.push_back(static_cast<std::uint32_t>(g_columns.size()));
  }
}
__attribute__((noinline)) void multiply_rows() {
  const double* x = doubles(1024);
  double* y = doubles(2048);
  for (std::uint32_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (std::uint32_t i = g_row_starts[row]; i < g_row_starts[row + 1]; ++i)
      sum += 1.5 * x[g_columns[i]];
    y[row & 2047] = sum;
  }
}
}  // namespace
KERNEL(short_rows, "mispredictions", kRows, prepare_rows<true>) { multiply_rows(); }
RELIEVED(short_rows, kRows, prepare_rows<false>) { multiply_rows(); }

// Points in a circle, counted with a branch or with a sum.
namespace {
template <bool kBranches>
__attribute__((always_inline)) inline void throw_darts() {
  std::uint64_t state = g_integer | 1, inside = 0;
  for (int i = 0; i < 32768; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const std::uint64_t x = state & 0xffffff, y = state >> 24 & 0xffffff;
    const bool is_inside = x * x + y * y < 1ULL << 48;
    if (kBranches) {
      if (is_inside) {
        asm volatile("");
        ++inside;
      }
    } else {
      inside += is_inside ? 1 : 0;
    }
  }
  g_integer = state + inside;
}
}  // namespace
KERNEL(monte_carlo, "mispredictions", 32768, nullptr) { throw_darts<true>(); }
RELIEVED(monte_carlo, 32768, nullptr) { throw_darts<false>(); }
