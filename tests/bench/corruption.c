/* Preloaded into a benchmark program: MPI_Alltoall with one bit of the last rank's last element wrong. */
#include <mpi.h>

#pragma GCC visibility push(default)

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm) {
  int ranks;
  int rank;
  int size;
  int code = PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);

  PMPI_Comm_size(comm, &ranks);
  PMPI_Comm_rank(comm, &rank);
  PMPI_Type_size(receive_type, &size);
  if (ranks > 1 && rank == ranks - 1) {
    /* The byte before the last: of a small whole number in a double, that is in its leading digits. */
    ((unsigned char*)receive)[(size_t)size * (size_t)receive_count * (size_t)ranks - 2] ^= 1U;
  }
  return code;
}
