// Marked regions for languages that cannot include loft/region.h.
#include "loft/region.h"

#include "loft/count.h"

void loft_region_enter(const char* name, size_t length) { loft_region_begin_n(name, length); }
void loft_region_leave(const char* name, size_t length) { loft_region_end_n(name, length); }
