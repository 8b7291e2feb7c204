/* The version of the libloft that a program runs with, for C and C++. */
#ifndef LOFT_VERSION_H
#define LOFT_VERSION_H

#include "loft/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "0.2.0"; never null, never freed. */
LOFT_API const char* loft_version(void);

#ifdef __cplusplus
}
#endif

#endif
