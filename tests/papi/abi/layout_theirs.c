#include <papi.h>

#define LAYOUT layout_theirs
#include "layout.inc"
