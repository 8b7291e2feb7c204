#include "core/sampled_events.hpp"

#include <array>

namespace loft::core {
namespace {

using V = ModelView;

struct Entry {
  std::string_view name;
  CountReader surely;
  CountReader perhaps;
};

constexpr std::size_t kL1 = 0, kL2 = 1, kL3 = 2;

template <std::size_t level, auto member>
std::uint64_t data_beyond(const V& v) {
  return v.data_reach->beyond[level].*member;
}
template <std::size_t level, auto member>
std::uint64_t code_beyond(const V& v) {
  return v.code_reach->beyond[level].*member;
}
template <std::size_t level, auto member>
std::uint64_t all_beyond(const V& v) {
  return data_beyond<level, member>(v) + code_beyond<level, member>(v);
}
template <std::size_t level, auto member>
std::uint64_t all_served(const V& v) {
  return v.data_reach->served[level].*member + v.code_reach->served[level].*member;
}
// Lines of other threads come without asking L3.
template <auto member>
std::uint64_t asked_l3(const V& v) {
  return all_beyond<kL2, member>(v) - v.data_reach->transferred - v.code_reach->transferred;
}
template <std::size_t level, auto member>
std::uint64_t moved_bytes(const V& v) {
  return v.moved->beyond[level].*member * v.line_bytes;
}

constexpr auto kSurely = &Reach::Bounds::surely;
constexpr auto kPerhaps = &Reach::Bounds::perhaps;

constexpr auto kEntries = std::to_array<Entry>({
    {"l1i_misses", code_beyond<kL1, kSurely>, code_beyond<kL1, kPerhaps>},
    {"l1d_hits", [](const V& v) { return v.l1d->hits; },
     [](const V& v) { return v.l1d->hits + v.l1d->unknown(); }},
    {"l1d_misses", data_beyond<kL1, kSurely>, data_beyond<kL1, kPerhaps>},
    {"l2_accesses", all_beyond<kL1, kSurely>, all_beyond<kL1, kPerhaps>},
    {"l2_hits", all_served<kL2, kSurely>, all_served<kL2, kPerhaps>},
    {"l2_misses", all_beyond<kL2, kSurely>, all_beyond<kL2, kPerhaps>},
    {"l2_data_misses", data_beyond<kL2, kSurely>, data_beyond<kL2, kPerhaps>},
    {"l2_code_misses", code_beyond<kL2, kSurely>, code_beyond<kL2, kPerhaps>},
    {"l3_accesses", asked_l3<kSurely>, asked_l3<kPerhaps>},
    {"l3_hits", all_served<kL3, kSurely>, all_served<kL3, kPerhaps>},
    {"l3_misses", all_beyond<kL3, kSurely>, all_beyond<kL3, kPerhaps>},
    {"l3_data_misses", data_beyond<kL3, kSurely>, data_beyond<kL3, kPerhaps>},
    {"l3_code_misses", code_beyond<kL3, kSurely>, code_beyond<kL3, kPerhaps>},
    {"itlb_misses", [](const V& v) { return v.tlb->itlb().misses; },
     [](const V& v) { return v.tlb->itlb().misses + v.tlb->itlb().unknown(); }},
    {"dtlb_misses", [](const V& v) { return v.tlb->dtlb().misses; },
     [](const V& v) { return v.tlb->dtlb().misses + v.tlb->dtlb().unknown(); }},
    {"page_walks", [](const V& v) { return v.tlb->walks(); },
     [](const V& v) { return v.tlb->walks() + v.tlb->unknown_walks(); }},
    {"l2_to_l1_bytes", moved_bytes<kL1, kSurely>, moved_bytes<kL1, kPerhaps>},
    {"l3_to_l2_bytes", moved_bytes<kL2, kSurely>, moved_bytes<kL2, kPerhaps>},
    {"memory_read_bytes", moved_bytes<kL3, kSurely>, moved_bytes<kL3, kPerhaps>},
});

}  // namespace

std::optional<SampledReaders> sampled_readers(const ModelledEvent& event) {
  // What no earlier time decides.
  if (event.name == "l1i_accesses" || event.name == "l1d_accesses" ||
      event.name.starts_with("branch_misses"))
    return SampledReaders{event.read, event.read};
  for (const Entry& entry : kEntries)
    if (entry.name == event.name) return SampledReaders{entry.surely, entry.perhaps};
  return std::nullopt;
}

}  // namespace loft::core
