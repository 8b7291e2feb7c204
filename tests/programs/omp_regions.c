/* OpenMP threads in nested regions, some marked with loft's header and some as LIKWID's macros do:
 *   outer  10 additions, and inside of it
 *     inner  1000 additions in thread 0, 2000 in thread 1, ...
 * Arguments: threads, rounds. */
#include <omp.h>
#include <stdlib.h>

#include "loft/region.h"

int likwid_markerStartRegion(const char* name);
int likwid_markerStopRegion(const char* name);

static void add(long times) {
  volatile double sum = 0;
  long i;
  for (i = 0; i < times; ++i) sum = sum + 0.5;
}

int main(int count, char** words) {
  const int threads = count > 1 ? atoi(words[1]) : 2;
  const int rounds = count > 2 ? atoi(words[2]) : 1;
#pragma omp parallel num_threads(threads)
  {
    int round;
    for (round = 0; round < rounds; ++round) {
      LOFT_REGION_BEGIN("outer");
      likwid_markerStartRegion("inner");
      add(1000L * (omp_get_thread_num() + 1));
      likwid_markerStopRegion("inner");
      add(10);
      LOFT_REGION_END("outer");
    }
  }
  return 0;
}
