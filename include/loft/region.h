/* Marks parts of a program, so that loft counts and times them apart. For C and C++; there is
 * nothing to link.
 *
 *   LOFT_REGION_BEGIN("solve");
 *   solve(matrix);
 *   LOFT_REGION_END("solve");
 *
 * In C++ a region can be an object:
 *
 *   loft::Region region("solve");
 *
 * Regions may be nested; each thread has its own. `loft stat --by region -- ./app` shows them by
 * what is around them. An end must name the innermost open region: any other is ignored, and loft
 * reports it. A region that begins again inside itself is the same region. Names have up to 248
 * bytes; what is behind them is not looked at.
 *
 * Without loft a region costs two nops and two comparisons. Under the virtual PMU the nops are a
 * door into loft's engine: what runs between them is counted apart, exactly. (One instruction,
 * which loads the name for the end, is usually part of it.) */
#ifndef LOFT_REGION_H
#define LOFT_REGION_H

#include <stddef.h>
#include <string.h>

#include "loft/region_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__x86_64__)
/* A nop of 8 bytes whose displacement says what it is: 1 begin, 2 end. Registers that a function
 * may change are changed, but for vectors. */
#define LOFT_REGION_DOOR_(number, name, length)                                      \
  __asm__ __volatile__(".byte 0x0f, 0x1f, 0x84, 0x00, " #number ", 0x46, 0x4f, 0x4c" \
                       : "+D"(name), "+S"(length)                                    \
                       :                                                             \
                       : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory")
#else
#define LOFT_REGION_DOOR_(number, name, length) ((void)(name), (void)(length))
#endif

static inline void loft_region_begin_n(const char* name, size_t length) {
  if (__builtin_expect(loft_region_state_ != LOFT_REGION_UNWATCHED_, 0))
    loft_region_watched_begin_(name, length);
  LOFT_REGION_DOOR_(1, name, length);
}

static inline void loft_region_end_n(const char* name, size_t length) {
  const char* door_name = name;
  size_t door_length = length;
  LOFT_REGION_DOOR_(2, door_name, door_length);
  if (__builtin_expect(loft_region_state_ != LOFT_REGION_UNWATCHED_, 0))
    loft_region_watched_end_(name, length);
}

static inline void loft_region_begin(const char* name) { loft_region_begin_n(name, strlen(name)); }
static inline void loft_region_end(const char* name) { loft_region_end_n(name, strlen(name)); }

/* For names that are written out: their length is known. */
#define LOFT_REGION_BEGIN(name) loft_region_begin_n(name, sizeof(name) - 1)
#define LOFT_REGION_END(name) loft_region_end_n(name, sizeof(name) - 1)

#ifdef __cplusplus
}  // extern "C"

namespace loft {

// Open as long as it lives. The name must live as long.
class Region {
 public:
  explicit Region(const char* name) : name_(name), length_(strlen(name)) {
    loft_region_begin_n(name_, length_);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { loft_region_end_n(name_, length_); }

 private:
  const char* name_;
  size_t length_;
};

}  // namespace loft
#endif

#endif
