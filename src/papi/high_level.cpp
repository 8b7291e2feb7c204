// PAPI's high-level regions are loft's marked regions: 'loft stat --by region' shows them, exactly.
// Rates and devices are not offered.
#include "loft/region.h"
#include "papi/interface.h"

extern "C" {

PAPI_EXPORT int PAPI_hl_region_begin(const char* region) {
  if (region == nullptr || *region == '\0') return PAPI_EINVAL;
  loft_region_begin(region);
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_hl_region_end(const char* region) {
  if (region == nullptr || *region == '\0') return PAPI_EINVAL;
  loft_region_end(region);
  return PAPI_OK;
}

// Counts inside of a region are shown at its end.
PAPI_EXPORT int PAPI_hl_read(const char* region) {
  return region == nullptr ? PAPI_EINVAL : PAPI_ENOSUPP;
}
PAPI_EXPORT int PAPI_hl_stop(void) { return PAPI_OK; }

PAPI_EXPORT int PAPI_flips_rate(int, float*, float*, long long*, float*) { return PAPI_ENOSUPP; }
PAPI_EXPORT int PAPI_flops_rate(int, float*, float*, long long*, float*) { return PAPI_ENOSUPP; }
PAPI_EXPORT int PAPI_ipc(float*, float*, long long*, float*) { return PAPI_ENOSUPP; }
PAPI_EXPORT int PAPI_epc(int, float*, float*, long long*, long long*, long long*, float*) {
  return PAPI_ENOSUPP;
}
PAPI_EXPORT int PAPI_rate_stop(void) { return PAPI_ENOTRUN; }

PAPI_EXPORT int PAPI_enum_dev_type(int, void**) { return PAPI_EINVAL; }
PAPI_EXPORT int PAPI_get_dev_type_attr(void*, int, void*) { return PAPI_ENOSUPP; }
PAPI_EXPORT int PAPI_get_dev_attr(void*, int, int, void*) { return PAPI_ENOSUPP; }

}  // extern "C"
