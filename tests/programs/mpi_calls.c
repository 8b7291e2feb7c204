/* Calls MPI seven times, five of them between MPI_Init and MPI_Finalize. */
int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Barrier(void* communicator);
int MPI_Sendrecv(const void* send, int send_count, void* send_type, int to, int send_tag,
                 void* receive, int receive_count, void* receive_type, int from, int receive_tag,
                 void* communicator, void* status);
void mpi_barrier_(int* communicator, int* error);

int main(int argc, char** argv) {
  const int sent = 41;
  int received = 0;
  int communicator = 9;
  int error = 1;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 3; ++i) MPI_Barrier((void*)0x7001);
  if (MPI_Sendrecv(&sent, 1, (void*)0x7002, -2, 5, &received, 6, (void*)0x7003, -7, 8,
                   (void*)0x7001, (void*)0) != 3)
    return 1;
  mpi_barrier_(&communicator, &error);
  MPI_Finalize();
  return received == 42 && error == 0 ? 0 : 1;
}
