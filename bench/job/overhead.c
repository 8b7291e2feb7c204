/* What a call of MPI costs, with and without the interposer before it: a call that does nothing.
 *
 *   mpirun -n 1 ./overhead; LD_PRELOAD=.../libloft_mpi.so mpirun -n 1 ./overhead
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  enum { kCalls = 5000000 };
  int flag = 0;
  const double start = MPI_Wtime();
  for (int i = 0; i < kCalls; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  printf("%.1f ns a call\n", (MPI_Wtime() - start) / kCalls * 1e9);
  MPI_Finalize();
  return 0;
}
