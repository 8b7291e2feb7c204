/* What the interposer of MPI calls and loft share: a page that loft makes and the interposer fills.
 */
#pragma once

#include <stdint.h>

#define LOFT_MPI_MAGIC 0x494d5054464f4cull /* "LOFTPMI" */
#define LOFT_MPI_VARIABLE "LOFT_MPI_TIMES" /* the path of the page, for the interposer */

/* Times are in nanoseconds, moments those of CLOCK_MONOTONIC. */
struct loft_mpi_times {
  uint64_t magic;
  uint64_t calls;      /* outermost calls of all threads, but MPI_Init and MPI_Finalize */
  uint64_t main_ns;    /* their elapsed time in the thread that called MPI first */
  uint64_t main_since; /* when the call began that this thread is in; 0: it is in none */
  uint64_t begin;      /* when MPI_Init was over; 0: not yet */
  uint64_t end;        /* when MPI_Finalize began; 0: not yet */
};
