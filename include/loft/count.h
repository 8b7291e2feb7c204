/* Count events of the calling thread, and the metrics that follow from them: any name that
 * `loft stat -e` takes. For C and C++.
 *
 *   char why[256];
 *   loft_counters* counters = loft_counters_open("cycles,IPC", why, sizeof why);
 *   if (!counters) { puts(why); return; }
 *   loft_counters_start(counters);
 *   work();
 *   loft_counters_stop(counters);
 *   loft_count count;
 *   loft_counters_read(counters, 0, &count);
 *   if (count.kind != LOFT_MISSING)
 *     printf("%s: %.0f\n", loft_counters_name(counters, 0), count.value);
 *   loft_counters_close(counters);
 *
 * A handle belongs to the thread that opened it: in another thread, and in a child of fork, all
 * that counts fails. In a program that runs under loft's virtual PMU (`loft stat --source virtual`)
 * the names of its events are known (`loft list virtual`), and their counts are exact. Metrics are
 * those of `loft metric list`: installed ones, the user's own, and those of files that the program
 * loads itself. */
#ifndef LOFT_COUNT_H
#define LOFT_COUNT_H

#include <stddef.h>

#include "loft/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct loft_counters loft_counters;

/* How far a number can be trusted. */
typedef enum loft_kind {
  LOFT_COUNTED = 0,  /* every occurrence */
  LOFT_SCALED = 1,   /* it shared a counter: an estimate */
  LOFT_MODELLED = 2, /* computed, not observed */
  LOFT_MISSING = 3   /* there is no value; loft_counters_why says why */
} loft_kind;

typedef struct loft_count {
  double value;   /* in the unit of the event or metric; meaningless when missing */
  double running; /* the share of time in which it counted, 0 to 1; for a metric the least of all
                     events of the handle */
  loft_kind kind;
} loft_count;

/* Adds the metrics of a file or folder, in any format that `loft metric check` takes, for handles
 * that are opened from now on. 0 on success; else nothing of it is used, and `error`, which may be
 * null, says where the mistake is. Any thread may call it. */
LOFT_API int loft_metrics_load(const char* path, char* error, size_t error_size);
/* What was loaded so, in order; null behind the last. loft's libpapi takes its user-defined events
 * from there, too. */
LOFT_API const char* loft_metrics_file(size_t index);

/* Sets a constant of metrics for handles that are opened from now on, over all files. 0 on success.
 */
LOFT_API int loft_metrics_define(const char* name, double value);

/* Opens what is named, stopped. Null on failure, with the reason in `error`; `error` may be null.
 */
LOFT_API loft_counters* loft_counters_open(const char* events, char* error, size_t error_size);
/* The same for another thread of this process, by its number as gettid() gives it, or for all
 * threads of the process together, ended ones included. Only the virtual PMU counts these; other
 * events are missing. Of a thread that runs meanwhile a read is a moment's view; of one that waits
 * or has ended it is exact. There are no thresholds. */
#define LOFT_WHOLE_PROCESS 0
LOFT_API loft_counters* loft_counters_open_of(const char* events, long thread, char* error,
                                              size_t error_size);
LOFT_API void loft_counters_close(loft_counters* counters);

/* 0 on success. Counts go on from where they were when started again. */
LOFT_API int loft_counters_start(loft_counters* counters);
LOFT_API int loft_counters_stop(loft_counters* counters);

/* 0 on success. Counts begin at 0 again; what is started stays so. */
LOFT_API int loft_counters_reset(loft_counters* counters);

/* Called by the thread itself between two instructions of the program, in a signal handler: only
 * what a handler may do is allowed there. `count` is what the event has come to since the handle
 * was opened or reset, `address` where the program goes on. */
typedef void (*loft_on_threshold)(loft_counters* counters, size_t index, unsigned long long count,
                                  void* address, void* data);

/* 0 on success: while the counters run, `callback` is called whenever the event's count comes to a
 * multiple of `every`, behind the very instruction that brings it there; 0 ends that. (An
 * instruction may count several at once and so pass it.) What the callback does counts, too;
 * multiples that it passes itself are left out. Events that the virtual PMU counts have thresholds,
 * but for outcomes of branches; -1 for all others. The signal is SIGRTMAX - 5: -1 when the program
 * uses that itself. While the program blocks it, callbacks wait. */
LOFT_API int loft_counters_threshold(loft_counters* counters, size_t index,
                                     unsigned long long every, loft_on_threshold callback,
                                     void* data);

/* 0 on success: the counts of this moment, of all events that the handle counts, those that only a
 * metric needs behind the named ones; metrics are left alone. `count` must not be less than their
 * number. -1 when one of them is missing. The quickest way to read. */
LOFT_API int loft_counters_values(loft_counters* counters, unsigned long long* values,
                                  size_t count);

/* Events in the order in which they were named, then metrics in theirs. What is counted only
 * because a metric needs it is not among them. */
LOFT_API size_t loft_counters_size(const loft_counters* counters);
/* Null for an index out of range. Valid until the handle is closed. */
LOFT_API const char* loft_counters_name(const loft_counters* counters, size_t index);
LOFT_API const char* loft_counters_unit(const loft_counters* counters, size_t index);

/* 0 on success. Takes the counters' present state, all events at once. */
LOFT_API int loft_counters_update(loft_counters* counters);
/* 0 on success. The count as of the last update; loft_counters_stop updates by itself. */
LOFT_API int loft_counters_read(const loft_counters* counters, size_t index, loft_count* count);
/* Why an event or metric is missing, "" when it is not. */
LOFT_API const char* loft_counters_why(const loft_counters* counters, size_t index);

/* Begin and end of a marked region (loft/region.h), for languages that cannot include that. What
 * these functions do between the two marks is counted inside: a few instructions. */
LOFT_API void loft_region_enter(const char* name, size_t length);
LOFT_API void loft_region_leave(const char* name, size_t length);

#ifdef __cplusplus
}
#endif

#endif
