// PAPI's rate calls: the first starts counting in the thread, each further one tells what was
// counted since, and how much that is per second, or per cycle.
#include <memory>

#include "papi/event_sets.hpp"
#include "papi/functions.h"

namespace loft::papi {
namespace {

struct Rate {
  EventSet set;
  std::vector<int> codes;
  long long real_start = 0;
  long long own_start = 0;
};

thread_local std::unique_ptr<Rate> t_rate;

int code_of(const char* name) {
  const Event* event = catalogue().find(name);
  return event == nullptr ? 0 : static_cast<int>(event->code);
}

int start_rate(const std::vector<int>& codes) {
  if (PAPI_is_initialized() == PAPI_NOT_INITED) PAPI_library_init(0x07000000);
  auto rate = std::make_unique<Rate>();
  rate->codes = codes;
  for (const int code : codes)
    if (const int error = rate->set.add(code); error != PAPI_OK) return error;
  rate->real_start = PAPI_get_real_usec();
  rate->own_start = PAPI_get_virt_usec();
  const int error = rate->set.start();
  if (error == PAPI_OK) t_rate = std::move(rate);
  return error;
}

// Times in seconds since the first call, counts since the last. At the first call all are 0.
int read_rate(const std::vector<int>& codes, float* real, float* own,
              std::vector<long long>& counts) {
  counts.assign(codes.size(), 0);
  *real = *own = 0;
  if (t_rate == nullptr) return start_rate(codes);
  if (t_rate->codes != codes) return PAPI_EINVAL;  // another rate is being taken
  *real = static_cast<float>(PAPI_get_real_usec() - t_rate->real_start) * 1e-6f;
  *own = static_cast<float>(PAPI_get_virt_usec() - t_rate->own_start) * 1e-6f;
  return t_rate->set.read(counts.data());
}

int per_second(int event, float* real, float* own, long long* count, float* rate) {
  if (real == nullptr || own == nullptr || count == nullptr || rate == nullptr) return PAPI_EINVAL;
  std::vector<long long> counts;
  const int error = read_rate({event}, real, own, counts);
  *count = counts[0];
  *rate = *own > 0 ? static_cast<float>(counts[0]) / *own * 1e-6f : 0;
  return error;
}

float ratio(long long count, long long cycles) {
  return cycles > 0 ? static_cast<float>(count) / static_cast<float>(cycles) : 0;
}

}  // namespace
}  // namespace loft::papi

using namespace loft::papi;

extern "C" {

PAPI_EXPORT int PAPI_flops_rate(int event, float* real, float* own, long long* count, float* rate) {
  return per_second(event, real, own, count, rate);
}

PAPI_EXPORT int PAPI_flips_rate(int event, float* real, float* own, long long* count, float* rate) {
  return per_second(event, real, own, count, rate);
}

PAPI_EXPORT int PAPI_ipc(float* real, float* own, long long* count, float* rate) {
  if (real == nullptr || own == nullptr || count == nullptr || rate == nullptr) return PAPI_EINVAL;
  std::vector<long long> counts;
  const int error =
      read_rate({code_of("PAPI_TOT_INS"), code_of("PAPI_TOT_CYC")}, real, own, counts);
  *count = counts[0];
  *rate = ratio(counts[0], counts[1]);
  return error;
}

PAPI_EXPORT int PAPI_epc(int event, float* real, float* own, long long* reference, long long* core,
                         long long* count, float* rate) {
  if (real == nullptr || own == nullptr || reference == nullptr || core == nullptr ||
      count == nullptr || rate == nullptr)
    return PAPI_EINVAL;
  std::vector<long long> counts;
  const int wanted = event == 0 ? code_of("PAPI_TOT_INS") : event;
  const int error = read_rate({wanted, code_of("PAPI_TOT_CYC")}, real, own, counts);
  *count = counts[0];
  *reference = *core = counts[1];
  *rate = ratio(counts[0], counts[1]);
  return error;
}

PAPI_EXPORT int PAPI_rate_stop(void) {
  if (t_rate == nullptr) return PAPI_ENOTRUN;
  const int error = t_rate->set.stop(nullptr);
  t_rate.reset();
  return error;
}

}  // extern "C"
