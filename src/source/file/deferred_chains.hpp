// Call chains that the kernel could not walk at once. A sample of a program that is inside of the
// kernel then ends with a cookie in place of its user part, which comes as a record of its own
// (CALLCHAIN_DEFERRED) when the program goes back to its own code: soon, so that it stands not far
// behind the sample, or, in the buffer of another CPU, not far before it.
//
//   DeferredChains deferred(region, from, until);   // all that stand there
//   chain = deferred.stitched(chain, buffer);
#pragma once

#include <unordered_map>
#include <vector>

#include "source/file/recording.hpp"

namespace loft::source {

class DeferredChains {
 public:
  DeferredChains(const Region& region, std::uint64_t from, std::uint64_t until);

  // The chain with its user part in place of the cookie, kept in `buffer`; as it is where it has no
  // cookie, or where its user part was lost.
  [[nodiscard]] perf_data::U64View stitched(perf_data::U64View chain,
                                            std::vector<std::uint64_t>& buffer) const;

 private:
  std::unordered_map<std::uint64_t, perf_data::U64View> by_cookie_;
};

}  // namespace loft::source
