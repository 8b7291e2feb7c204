/* An MPI of one rank that only looks at its arguments: the real names and the profiling names, as
 * every MPI has them. A call that did not get what mpi_calls.c gives it ends the program. */
#include <stdlib.h>

#define WEAK(name, other) __attribute__((weak, alias(#other))) int name()

static int expect(long got, long wanted) {
  if (got != wanted) abort();
  return 0;
}

int PMPI_Init(int* argc, char*** argv) { return expect(argc != 0 && argv != 0, 1); }
int PMPI_Finalize(void) { return 0; }
int PMPI_Barrier(void* communicator) { return expect((long)communicator, 0x7001); }

int PMPI_Sendrecv(const void* send, int send_count, void* send_type, int to, int send_tag,
                  void* receive, int receive_count, void* receive_type, int from, int receive_tag,
                  void* communicator, void* status) {
  expect(*(const int*)send, 41);
  expect(send_count, 1);
  expect((long)send_type, 0x7002);
  expect(to, -2);
  expect(send_tag, 5);
  *(int*)receive = *(const int*)send + 1;
  expect(receive_count, 6);
  expect((long)receive_type, 0x7003);
  expect(from, -7);
  expect(receive_tag, 8);
  expect((long)communicator, 0x7001);
  expect(status == 0, 1);
  return 3;
}

/* Fortran's, which calls C's: one call from outside. */
int MPI_Barrier();
void pmpi_barrier_(int* communicator, int* error) {
  expect(*communicator, 9);
  *error = MPI_Barrier((void*)0x7001);
}

WEAK(MPI_Init, PMPI_Init);
WEAK(MPI_Finalize, PMPI_Finalize);
WEAK(MPI_Barrier, PMPI_Barrier);
WEAK(MPI_Sendrecv, PMPI_Sendrecv);
__attribute__((weak, alias("pmpi_barrier_"))) void mpi_barrier_();
