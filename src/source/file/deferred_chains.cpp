#include "source/file/deferred_chains.hpp"

namespace loft::source {

namespace perf = format::perf;

DeferredChains::DeferredChains(const Region& region, std::uint64_t from, std::uint64_t until) {
  perf::RecordWalker walker(region.bytes, region.order, from);
  RawRecord record;
  while (walker.position() < until && walker.next(record)) {
    if (record.type != RecordType::callchain_deferred) continue;
    ByteReader in(record.body, record.order);
    const auto cookie = in.u64();
    const auto count = in.count64(8);
    if (!in.ok()) continue;
    by_cookie_[cookie] = {in.here(), static_cast<std::size_t>(count), record.order != kHostOrder};
  }
}

perf_data::U64View DeferredChains::stitched(perf_data::U64View chain,
                                            std::vector<std::uint64_t>& buffer) const {
  const std::size_t size = chain.size();
  if (size < 2 || chain[size - 2] != perf_data::kContextUserDeferred) return chain;
  const auto user = by_cookie_.find(chain[size - 1]);
  if (user == by_cookie_.end()) return chain;
  buffer.clear();
  for (std::size_t i = 0; i + 2 < size; ++i) buffer.push_back(chain[i]);
  buffer.push_back(perf_data::kContextUser);
  for (std::size_t i = 0; i < user->second.size(); ++i)
    if (user->second[i] < perf_data::kContextLowest) buffer.push_back(user->second[i]);
  return {reinterpret_cast<const std::byte*>(buffer.data()), buffer.size(), false};
}

}  // namespace loft::source
