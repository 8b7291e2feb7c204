// LIKWID's marker functions, for C and Fortran, as regions of loft.
#include "loft/region.h"

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT void likwid_markerInit(void) {}
EXPORT void likwid_markerThreadInit(void) {}
EXPORT void likwid_markerNextGroup(void) {}
EXPORT void likwid_markerClose(void) {}
EXPORT int likwid_markerRegisterRegion(const char* name) { return name == nullptr ? -1 : 0; }
EXPORT int likwid_markerResetRegion(const char* name) { return name == nullptr ? -1 : 0; }

EXPORT int likwid_markerStartRegion(const char* name) {
  if (name == nullptr) return -1;
  loft_region_begin(name);
  return 0;
}

EXPORT int likwid_markerStopRegion(const char* name) {
  if (name == nullptr) return -1;
  loft_region_end(name);
  return 0;
}

// There are no events to tell: loft shows them when the program has ended.
EXPORT void likwid_markerGetRegion(const char* name, int* events, double* counts, double* time,
                                   int* visits) {
  static_cast<void>(name), static_cast<void>(counts);
  if (events != nullptr) *events = 0;
  if (time != nullptr) *time = 0;
  if (visits != nullptr) *visits = 0;
}

// Fortran gives the length behind the arguments, and fills names up with blanks.
static size_t trimmed(const char* name, int length) {
  size_t size = length > 0 ? static_cast<size_t>(length) : 0;
  while (size > 0 && name[size - 1] == ' ') --size;
  return size;
}

EXPORT void likwid_markerinit_(void) {}
EXPORT void likwid_markerthreadinit_(void) {}
EXPORT void likwid_markernextgroup_(void) {}
EXPORT void likwid_markerclose_(void) {}
EXPORT void likwid_markerregisterregion_(const char*, int) {}
EXPORT void likwid_markerresetregion_(const char*, int) {}
EXPORT void likwid_markerstartregion_(const char* name, int length) {
  loft_region_begin_n(name, trimmed(name, length));
}
EXPORT void likwid_markerstopregion_(const char* name, int length) {
  loft_region_end_n(name, trimmed(name, length));
}
EXPORT void likwid_markergetregion_(const char* name, int* events, double* counts, double* time,
                                    int* visits, int) {
  likwid_markerGetRegion(name, events, counts, time, visits);
}

}  // extern "C"
