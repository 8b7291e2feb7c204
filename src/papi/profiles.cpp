// Overflow and profiles through PAPI's functions.
#include <algorithm>
#include <memory>
#include <vector>

#include "papi/event_sets.hpp"
#include "papi/interface.h"
#include "papi/library.hpp"

namespace loft::papi {
namespace {

template <class Act>
int with_set(int number, Act&& act) {
  if (check_started() != PAPI_OK) return PAPI_ENOINIT;
  const EventSets::Held set = event_sets().find(number);
  return set ? act(*set) : PAPI_ENOEVST;
}

struct Handler {
  int set;
  PAPI_overflow_handler_t function;
};

void call_handler(void* data, int index, void* address, void* context) {
  const auto& handler = *static_cast<const Handler*>(data);
  handler.function(handler.set, address, 1LL << index, context);
}

struct Profile {
  std::vector<PAPI_sprofil_t> parts;
  int flags;
  unsigned seed = 1;
};

std::size_t bucket_bytes(int flags) {
  if ((flags & PAPI_PROFIL_BUCKET_64) != 0) return 8;
  return (flags & PAPI_PROFIL_BUCKET_32) != 0 ? 4 : 2;
}

template <class Bucket>
void increment(void* base, std::size_t index) {
  Bucket& bucket = static_cast<Bucket*>(base)[index];
  if (bucket != static_cast<Bucket>(~Bucket{0})) ++bucket;
}

// Each byte of code has a bucket of its own; at half of that, 65,536, two bytes share one, and so
// on.
constexpr unsigned kByteScale = 131072;

void count_address(void* data, int, void* address, void*) {
  auto& profile = *static_cast<Profile*>(data);
  profile.seed = profile.seed * 1103515245u + 12345u;
  if ((profile.flags & PAPI_PROFIL_RANDOM) != 0 && (profile.seed >> 16 & 3) == 0) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const PAPI_sprofil_t* best = nullptr;
  for (const PAPI_sprofil_t& part : profile.parts) {
    const auto start = reinterpret_cast<std::uintptr_t>(part.pr_off);
    if (start <= at && (best == nullptr || start >= reinterpret_cast<std::uintptr_t>(best->pr_off)))
      best = &part;
  }
  if (best == nullptr) return;
  const std::uintptr_t distance = at - reinterpret_cast<std::uintptr_t>(best->pr_off);
  const auto index = static_cast<std::size_t>(std::uint64_t{distance} * best->pr_scale >> 17);
  const std::size_t bytes = bucket_bytes(profile.flags);
  // A scale of 2 is one bucket for everything.
  const std::size_t bucket = best->pr_scale == 2 ? 0 : index;
  if (bucket >= best->pr_size / bytes) return;
  if (bytes == 8)
    increment<std::uint64_t>(best->pr_base, bucket);
  else if (bytes == 4)
    increment<std::uint32_t>(best->pr_base, bucket);
  else
    increment<std::uint16_t>(best->pr_base, bucket);
}

}  // namespace
}  // namespace loft::papi

using namespace loft::papi;

extern "C" {

PAPI_EXPORT int PAPI_overflow(int set, int code, int threshold, int flags,
                              PAPI_overflow_handler_t handler) {
  static_cast<void>(flags);  // software and hardware are the same here
  if (threshold != 0 && handler == nullptr) return PAPI_EINVAL;
  return with_set(set, [&](EventSet& held) {
    return held.set_overflow(code, threshold, PAPI_OVERFLOWING, call_handler,
                             std::make_shared<Handler>(Handler{set, handler}));
  });
}

PAPI_EXPORT int PAPI_get_overflow_event_index(int set, long long vector, int* events, int* number) {
  if (vector == 0 || events == nullptr || number == nullptr || *number < 1) return PAPI_EINVAL;
  return with_set(set, [&](EventSet& held) {
    int found = 0;
    for (int i = 0; i < static_cast<int>(held.codes().size()) && found < *number; ++i)
      if ((vector >> i & 1) != 0) events[found++] = i;
    *number = found;
    return static_cast<int>(found > 0 ? PAPI_OK : PAPI_EINVAL);
  });
}

PAPI_EXPORT int PAPI_sprofil(PAPI_sprofil_t* parts, int count, int set, int code, int threshold,
                             int flags) {
  if (threshold < 0 || (flags & ~PAPI_PROFIL_ALL) != 0) return PAPI_EINVAL;
  auto profile = std::make_shared<Profile>();
  profile->flags = flags;
  if (threshold != 0) {
    if (parts == nullptr || count <= 0) return PAPI_EINVAL;
    profile->parts.assign(parts, parts + count);
    for (const PAPI_sprofil_t& part : profile->parts)
      if (part.pr_base == nullptr || part.pr_size == 0 || part.pr_scale > kByteScale)
        return PAPI_EINVAL;
  }
  return with_set(set, [&](EventSet& held) {
    return held.set_overflow(code, threshold, PAPI_PROFILING, count_address, std::move(profile));
  });
}

PAPI_EXPORT int PAPI_profil(void* buffer, unsigned bytes, void* offset, unsigned scale, int set,
                            int code, int threshold, int flags) {
  PAPI_sprofil_t part{buffer, bytes, offset, scale};
  if (threshold > 0 && (buffer == nullptr || bytes == 0)) return PAPI_EINVAL;
  return PAPI_sprofil(&part, 1, set, code, threshold, flags);
}

}  // extern "C"
