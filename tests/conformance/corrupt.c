/* Stands before MPI in LD_PRELOAD and spoils one result, as a wrong library would: the conformance test must say so.
 *
 *   CORRUPT=flip    one bit of what rank 1 receives by its third MPI_Alltoall that has data
 *   CORRUPT=lost    the contribution of rank 1 to its first MPI_Allreduce by MPI_SUM, of other types than MPI_DOUBLE
 *   CORRUPT=gap     one byte of a gap of what rank 1 receives by its first MPI_Allgather into a datatype with a gap
 *   CORRUPT=sent    one bit of what rank 1 sends by its third MPI_Gather that has data */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int is_asked_for(const char* what) {
  const char* asked = getenv("CORRUPT");
  int rank = -1;

  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 1 && asked != NULL && strcmp(asked, what) == 0;
}

/* The first byte of data of an element, from its beginning. */
static MPI_Aint first_byte(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;

  PMPI_Type_get_true_extent(type, &lower, &extent);
  return lower;
}

static int size_of(MPI_Datatype type) {
  int size = 0;

  PMPI_Type_size(type, &size);
  return size;
}

int MPI_Alltoall(const void* out, int sends, MPI_Datatype sent, void* in, int receives, MPI_Datatype received,
                 MPI_Comm comm) {
  static int calls;
  const int code = PMPI_Alltoall(out, sends, sent, in, receives, received, comm);

  if (receives > 0 && in != MPI_BOTTOM && size_of(received) > 0 && is_asked_for("flip") && ++calls == 3) {
    ((unsigned char*)in)[first_byte(received)] ^= 1;
  }
  return code;
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static int calls;

  if (count > 0 && op == MPI_SUM && type != MPI_DOUBLE && is_asked_for("lost") && ++calls == 1) {
    void* nothing = calloc((size_t)count, (size_t)size_of(type));
    const int code = PMPI_Allreduce(nothing, in, count, type, op, comm);
    free(nothing);
    return code;
  }
  return PMPI_Allreduce(out, in, count, type, op, comm);
}

/* The first byte of an element that unpacking leaves alone; -1: there is none. */
static MPI_Aint gap_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0, gap = -1;
  int position = 0;
  const int size = size_of(type);

  PMPI_Type_get_true_extent(type, &lower, &extent);
  if (extent <= size) {
    return -1;
  }
  unsigned char *element = malloc((size_t)extent), *packed = calloc((size_t)size, 1);
  memset(element, 1, (size_t)extent);
  PMPI_Unpack(packed, size, &position, element - lower, 1, type, MPI_COMM_SELF);
  for (MPI_Aint byte = 0; byte < extent && gap < 0; ++byte) {
    gap = element[byte] == 1 ? byte + lower : -1;
  }
  free(packed);
  free(element);
  return gap;
}

int MPI_Allgather(const void* out, int sends, MPI_Datatype sent, void* in, int receives, MPI_Datatype received,
                  MPI_Comm comm) {
  static int done;
  const int code = PMPI_Allgather(out, sends, sent, in, receives, received, comm);
  MPI_Aint lower = 0, extent = 0;

  PMPI_Type_get_extent(received, &lower, &extent);
  if (!done && receives > 0 && in != MPI_BOTTOM && extent > size_of(received) && is_asked_for("gap") &&
      gap_of(received) >= 0) {
    ((unsigned char*)in)[gap_of(received)] ^= 0xff;
    done = 1;
  }
  return code;
}

int MPI_Gather(const void* out, int sends, MPI_Datatype sent, void* in, int receives, MPI_Datatype received, int root,
               MPI_Comm comm) {
  static int calls;
  const int code = PMPI_Gather(out, sends, sent, in, receives, received, root, comm);

  if (out != MPI_IN_PLACE && out != MPI_BOTTOM && sends > 0 && size_of(sent) > 0 && is_asked_for("sent") &&
      ++calls == 3) {
    ((unsigned char*)out)[first_byte(sent)] ^= 1;
  }
  return code;
}
