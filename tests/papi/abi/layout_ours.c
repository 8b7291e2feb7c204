#include "papi/interface.h"

#define LAYOUT layout_ours
#include "layout.inc"
