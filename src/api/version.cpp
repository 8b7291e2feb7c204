#include "loft/version.h"

const char* loft_version() { return LOFT_API_VERSION; }
