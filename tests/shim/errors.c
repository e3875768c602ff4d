/* Errors reach the error handler of the program's communicator with MPI's own codes, and the return value. On two
 * ranks, with Open MPI: MPICH as Debian builds it does not check arguments at all. */
#include "check.h"

static int handled;
static MPI_Comm handled_comm;

static void note(MPI_Comm *comm, int *code, ...)
{
    MPI_Error_class(*code, &handled);
    handled_comm = *comm;
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Comm comm;
    int data[64] = {0}, rank, status, class = MPI_SUCCESS;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(comm, handler);

    SERVED(COLLTOPO_BCAST, MPI_Bcast(data, 16, MPI_INT, 0, comm));
    /* Rank 1 expects less than rank 0 sends. */
    status = MPI_Bcast(data, rank == 0 ? 64 : 16, MPI_INT, 0, comm);
    MPI_Error_class(status, &class);
    if (rank == 1) {
        CHECK(class == MPI_ERR_TRUNCATE, "a truncated bcast returns class %d", class);
        CHECK(handled == MPI_ERR_TRUNCATE, "the error handler got class %d", handled);
        CHECK(handled_comm == comm, "the error handler got another communicator");
    } else {
        CHECK(class == MPI_SUCCESS, "a bcast of the root returns class %d", class);
    }

    handled = MPI_SUCCESS;
    status = MPI_Allreduce(data, data + 8, -1, MPI_INT, MPI_SUM, comm);
    MPI_Error_class(status, &class);
    CHECK(class == MPI_ERR_COUNT && handled == MPI_ERR_COUNT, "a negative count gives class %d", class);
    handled = MPI_SUCCESS;
    status = MPI_Allreduce(data, data + 8, 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
    MPI_Error_class(status, &class);
    /* Open MPI asks first whether the op fits the datatype. */
    CHECK((class == MPI_ERR_TYPE || class == MPI_ERR_OP) && handled == class, "no datatype gives class %d", class);
    handled = MPI_SUCCESS;
    status = MPI_Bcast(data, 1, MPI_INT, 2, comm);
    MPI_Error_class(status, &class);
    CHECK(class == MPI_ERR_ROOT && handled == MPI_ERR_ROOT, "root 2 of two ranks gives class %d", class);
    handled = MPI_SUCCESS;
    status = MPI_Allreduce(data, data + 8, 1, MPI_DOUBLE, MPI_BAND, comm);
    MPI_Error_class(status, &class);
    CHECK(class == MPI_ERR_OP && handled == MPI_ERR_OP, "the bits of doubles give class %d", class);
    MPI_Errhandler_free(&handler);
    return checked();
}
