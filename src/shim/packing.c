/* Packing: elements as a program has them, and the bytes that colltopo moves. */
#include "packing.h"

#include <limits.h>

#include "library.h"
#include "types.h"

/* Between elements as the program has them and their bytes in a row. MPI_Pack counts bytes in an int; an element beyond
 * that goes as a message to oneself, which does the same. */
static int convert_piece(struct shim_communicator *communicator, enum shim_direction direction, char *elements,
                         int count, MPI_Datatype type, char *packed, size_t bytes)
{
    const int me = communicator->rank, tag = COLLTOPO_COLLECTIVES;
    MPI_Datatype dense;
    int position = 0, status;

    if (bytes <= INT_MAX) {
        return direction == SHIM_PACKING
                   ? shim_mpi.Pack(elements, count, type, packed, (int)bytes, &position, communicator->messages)
                   : shim_mpi.Unpack(packed, (int)bytes, &position, elements, count, type, communicator->messages);
    }
    status = shim_make_bytes_type(bytes, &dense);
    if (status != MPI_SUCCESS) {
        return status;
    }
    status = direction == SHIM_PACKING ? shim_mpi.Sendrecv(elements, count, type, me, tag, packed, 1, dense, me, tag,
                                                           communicator->messages, MPI_STATUS_IGNORE)
                                       : shim_mpi.Sendrecv(packed, 1, dense, me, tag, elements, count, type, me, tag,
                                                           communicator->messages, MPI_STATUS_IGNORE);
    shim_mpi.Type_free(&dense);
    return status;
}

/* The datatype as seen from `base` instead of MPI_BOTTOM. */
static int make_type_from(const char *base, MPI_Datatype type, MPI_Datatype *seen)
{
    const int one = 1;
    const MPI_Aint back = -(MPI_Aint)base;
    MPI_Count lower = 0, extent = 0;
    MPI_Datatype shifted;
    int status = shim_mpi.Type_get_extent_x(type, &lower, &extent);

    if (status == MPI_SUCCESS) {
        status = shim_mpi.Type_create_struct(1, &one, &back, &type, &shifted);
    }
    if (status != MPI_SUCCESS) {
        return status;
    }
    /* A struct's extent may be rounded up. */
    status = shim_mpi.Type_create_resized(shifted, (MPI_Aint)lower + back, (MPI_Aint)extent, seen);
    shim_mpi.Type_free(&shifted);
    return status == MPI_SUCCESS ? shim_mpi.Type_commit(seen) : status;
}

/* MPICH's MPI_Pack and MPI_Unpack refuse MPI_BOTTOM. */
static int convert_from_bottom(struct shim_communicator *communicator, enum shim_direction direction, size_t count,
                               MPI_Datatype type, char *packed)
{
    MPI_Datatype seen;
    int status = make_type_from(packed, type, &seen);

    if (status == MPI_SUCCESS) {
        status = shim_convert_block(communicator, direction, packed, count, seen, packed);
        shim_mpi.Type_free(&seen);
    }
    return status;
}

int shim_convert_block(struct shim_communicator *communicator, enum shim_direction direction, char *block, size_t count,
                       MPI_Datatype type, char *packed)
{
    const struct shell_layout layout = shim_layout_of(type);
    size_t most; /* elements of a piece */
    int status = MPI_SUCCESS;

    if (count == 0 || layout.size == 0) {
        return MPI_SUCCESS;
    }
    most = layout.size < INT_MAX ? INT_MAX / layout.size : 1;
    if (block == NULL) {
        return convert_from_bottom(communicator, direction, count, type, packed);
    }
    while (count > 0 && status == MPI_SUCCESS) {
        const size_t now = count < most ? count : most;
        status = convert_piece(communicator, direction, block, (int)now, type, packed, now * layout.size);
        block += (MPI_Aint)now * layout.extent;
        packed += now * layout.size;
        count -= now;
    }
    return status;
}
