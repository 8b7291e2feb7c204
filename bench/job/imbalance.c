/* An MPI program whose ranks do a known number of floating-point operations.
 *
 *   imbalance ROUNDS ADDITIONS [SLOW_RANK FACTOR] [yield]
 *
 * Every rank adds ADDITIONS numbers in each round, the slow one FACTOR times as many, and then all
 * meet in a barrier. So rank r does ROUNDS * ADDITIONS * (r is slow ? FACTOR : 1) operations, and
 * nothing else of it is floating point but its own clock. Each rank prints its operations and the
 * share of its time in MPI by its own clock, which is read around every call.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double in_mpi;

__attribute__((noinline)) static double solve(long additions, double by) {
  double sum = 0;
  for (long i = 0; i < additions; ++i) {
    sum += by;
    __asm__ volatile("" : "+x"(sum));
  }
  return sum;
}

__attribute__((noinline)) static void meet(void) {
  const double start = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  in_mpi += MPI_Wtime() - start;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double start = MPI_Wtime();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long rounds = argc > 1 ? atol(argv[1]) : 10;
  const long additions = argc > 2 ? atol(argv[2]) : 1000000;
  const int slow = argc > 3 ? atoi(argv[3]) : -1;
  const long factor = argc > 4 ? atol(argv[4]) : 1;
  const int dies = argc > 5 && strcmp(argv[5], "abort") == 0;
  const long own = additions * (rank == slow ? factor : 1);
  double sum = 0;
  for (long i = 0; i < rounds; ++i) {
    sum += solve(own, 1.0) > 0 ? 0 : 1;
    if (dies && rank == slow && i == rounds / 2) abort();
    meet();
  }
  const double wall = MPI_Wtime() - start;
  printf("rank %d operations %ld mpi %.4f wall %.4f\n", rank, rounds * own, in_mpi, wall);
  MPI_Finalize();
  return sum != 0;
}
