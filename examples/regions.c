/* Two regions, one inside the other, and how much the inner one counted so far: an example of
 * loft/region.h and loft/count.h.
 *
 *   loft stat --by region -e instructions,flops -- ./regions */
#include <stdio.h>

#include "loft/count.h"
#include "loft/region.h"

static volatile double sum;

static void sweep(void) {
  for (int i = 0; i < 1000; ++i) sum = sum + 1.5;
}

int main(void) {
  char why[256] = "";
  loft_counters* counters = loft_counters_open("flops", why, sizeof why);
  if (counters == NULL) puts(why);
  LOFT_REGION_BEGIN("solve");
  for (int step = 0; step < 3; ++step) {
    LOFT_REGION_BEGIN("sweep");
    if (counters != NULL) loft_counters_start(counters);
    sweep();
    if (counters != NULL) loft_counters_stop(counters);
    LOFT_REGION_END("sweep");
  }
  LOFT_REGION_END("solve");
  if (counters != NULL) {
    loft_count flops;
    if (loft_counters_read(counters, 0, &flops) == 0 && flops.kind == LOFT_COUNTED)
      printf("%.0f operations\n", flops.value);
    loft_counters_close(counters);
  }
  return 0;
}
