/* LIKWID's marker functions, for C and Fortran, as regions of loft. Regions are loft's own when
   they end: what LIKWID would count meanwhile is not known here. */
#include <stddef.h>
#include <string.h>

#include "loft/region.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void likwid_markerInit(void) {}
EXPORT void likwid_markerThreadInit(void) {}
EXPORT void likwid_markerNextGroup(void) {}
EXPORT void likwid_markerClose(void) {}
EXPORT int likwid_markerRegisterRegion(const char* name) { return name == NULL ? -1 : 0; }
EXPORT int likwid_markerResetRegion(const char* name) { return name == NULL ? -1 : 0; }

EXPORT int likwid_markerStartRegion(const char* name) {
  if (name == NULL) return -1;
  loft_region_begin(name);
  return 0;
}

EXPORT int likwid_markerStopRegion(const char* name) {
  if (name == NULL) return -1;
  loft_region_end(name);
  return 0;
}

/* There are no events to tell: loft shows them when the program has ended. */
EXPORT void likwid_markerGetRegion(const char* name, int* events, double* counts, double* time,
                                   int* visits) {
  (void)name, (void)counts;
  if (events != NULL) *events = 0;
  if (time != NULL) *time = 0;
  if (visits != NULL) *visits = 0;
}

/* Fortran gives the length behind the arguments, and fills names up with blanks. */
static size_t trimmed(const char* name, int length) {
  size_t size = length > 0 ? (size_t)length : 0;
  while (size > 0 && name[size - 1] == ' ') --size;
  return size;
}

EXPORT void likwid_markerinit_(void) {}
EXPORT void likwid_markerthreadinit_(void) {}
EXPORT void likwid_markernextgroup_(void) {}
EXPORT void likwid_markerclose_(void) {}
EXPORT void likwid_markerregisterregion_(const char* name, int length) { (void)name, (void)length; }
EXPORT void likwid_markerresetregion_(const char* name, int length) { (void)name, (void)length; }
EXPORT void likwid_markerstartregion_(const char* name, int length) {
  loft_region_begin_n(name, trimmed(name, length));
}
EXPORT void likwid_markerstopregion_(const char* name, int length) {
  loft_region_end_n(name, trimmed(name, length));
}
EXPORT void likwid_markergetregion_(const char* name, int* events, double* counts, double* time,
                                    int* visits, int length) {
  (void)length;
  likwid_markerGetRegion(name, events, counts, time, visits);
}
