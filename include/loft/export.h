/* Marks what libloft offers. Everything without this mark stays inside the library. */
#ifndef LOFT_EXPORT_H
#define LOFT_EXPORT_H

#define LOFT_API __attribute__((visibility("default")))

#endif
