/* Layouts of datatypes, and which predefined op works on which predefined datatype (MPI 3.1, section 5.9.2). */
#include "types.h"

#include <stdlib.h>

#include "colltopo/colltopo.h"
#include "communicator.h"
#include "library.h"

#ifdef OPEN_MPI
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)shim_variable(#global))
#endif

/* The groups of datatypes that the standard defines its ops on. */
enum { integer = 1, floating = 2, complex_number = 4, logical = 8, raw = 16, pair = 32 };

struct named_type {
    MPI_Datatype type;
    int kind;
    struct shell_layout layout;
};

struct named_op {
    MPI_Op op;
    int kinds;     /* that it is defined on */
    bool is_a_sum; /* or a product: its bits may depend on the order where additions saturate */
};

static struct named_type named_types[64];
static size_t named_types_count;
static struct named_op named_ops[16];
static size_t named_ops_count;

static struct shell_layout look_at(MPI_Datatype type);

static void name_type(MPI_Datatype type, int kind)
{
    if (type != shim_mpi.datatype_null) {
        named_types[named_types_count++] = (struct named_type){type, kind, look_at(type)};
    }
}

static void name_op(MPI_Op op, int kinds, bool is_a_sum)
{
    named_ops[named_ops_count++] = (struct named_op){op, kinds, is_a_sum};
}

/* The table is searched from its beginning, so the usual ones come first. */
static void name_c_types(void)
{
    const MPI_Datatype integers[] = {MPI_LONG,           MPI_LONG_LONG,   MPI_INT64_T,       MPI_INT32_T,
                                     MPI_UINT64_T,       MPI_UINT32_T,    MPI_UNSIGNED_LONG, MPI_UNSIGNED,
                                     MPI_SHORT,          MPI_SIGNED_CHAR, MPI_INT8_T,        MPI_INT16_T,
                                     MPI_UINT8_T,        MPI_UINT16_T,    MPI_UNSIGNED_CHAR, MPI_UNSIGNED_LONG_LONG,
                                     MPI_UNSIGNED_SHORT, MPI_AINT,        MPI_OFFSET,        MPI_COUNT};
    const MPI_Datatype pairs[] = {MPI_DOUBLE_INT, MPI_FLOAT_INT,       MPI_LONG_INT,
                                  MPI_2INT,       MPI_LONG_DOUBLE_INT, MPI_SHORT_INT};

    name_type(MPI_DOUBLE, floating);
    name_type(MPI_INT, integer);
    name_type(MPI_BYTE, raw);
    name_type(MPI_FLOAT, floating);
    name_type(MPI_CHAR, 0);
    for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); ++i) {
        name_type(integers[i], integer);
    }
    name_type(MPI_C_DOUBLE_COMPLEX, complex_number);
    name_type(MPI_C_FLOAT_COMPLEX, complex_number);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
        name_type(pairs[i], pair);
    }
    name_type(MPI_LONG_DOUBLE, floating);
    name_type(MPI_C_BOOL, logical);
}

static void name_fortran_types(void)
{
    name_type(MPI_INTEGER, integer);
    name_type(MPI_REAL, floating);
    name_type(MPI_DOUBLE_PRECISION, floating);
    name_type(MPI_COMPLEX, complex_number);
    name_type(MPI_DOUBLE_COMPLEX, complex_number);
    name_type(MPI_LOGICAL, logical);
    name_type(MPI_2INTEGER, pair);
    name_type(MPI_2REAL, pair);
    name_type(MPI_2DOUBLE_PRECISION, pair);
#ifdef MPI_INTEGER1
    name_type(MPI_INTEGER1, integer);
#endif
#ifdef MPI_INTEGER2
    name_type(MPI_INTEGER2, integer);
#endif
#ifdef MPI_INTEGER4
    name_type(MPI_INTEGER4, integer);
#endif
#ifdef MPI_INTEGER8
    name_type(MPI_INTEGER8, integer);
#endif
#ifdef MPI_REAL4
    name_type(MPI_REAL4, floating);
#endif
#ifdef MPI_REAL8
    name_type(MPI_REAL8, floating);
#endif
#ifdef MPI_COMPLEX8
    name_type(MPI_COMPLEX8, complex_number);
#endif
#ifdef MPI_COMPLEX16
    name_type(MPI_COMPLEX16, complex_number);
#endif
}

void shim_name_predefined(void)
{
    name_c_types();
    name_fortran_types();
    name_op(MPI_SUM, integer | floating | complex_number, true);
    name_op(MPI_PROD, integer | floating | complex_number, true);
    name_op(MPI_MAX, integer | floating, false);
    name_op(MPI_MIN, integer | floating, false);
    name_op(MPI_LAND, integer | logical, false);
    name_op(MPI_LOR, integer | logical, false);
    name_op(MPI_LXOR, integer | logical, false);
    name_op(MPI_BAND, integer | raw, false);
    name_op(MPI_BOR, integer | raw, false);
    name_op(MPI_BXOR, integer | raw, false);
    name_op(MPI_MAXLOC, pair, false);
    name_op(MPI_MINLOC, pair, false);
    name_op(MPI_REPLACE, 0, false);
    name_op(MPI_NO_OP, 0, false);
}

static const struct named_type *named(MPI_Datatype type)
{
    for (size_t i = 0; i < named_types_count; ++i) {
        if (named_types[i].type == type) {
            return &named_types[i];
        }
    }
    return NULL;
}

static int properties_of_named(const struct named_op *op, const struct named_type *type)
{
    if (type == NULL || (op->kinds & type->kind) == 0) {
        return -1;
    }
    if ((type->kind & (integer | logical | raw)) == 0) {
        return COLLTOPO_OP_COMMUTATIVE;
    }
    /* Vector units may saturate sums of short integers, and then the order shows. */
    return COLLTOPO_OP_COMMUTATIVE | (op->is_a_sum && type->layout.size < 4 ? 0 : COLLTOPO_OP_ASSOCIATIVE_BITS);
}

int shim_op_properties(MPI_Op op, MPI_Datatype type)
{
    int commutes = 0;

    for (size_t i = 0; i < named_ops_count; ++i) {
        if (named_ops[i].op == op) {
            return properties_of_named(&named_ops[i], named(type));
        }
    }
    shim_mpi.Op_commutative(op, &commutes);
    return commutes ? COLLTOPO_OP_COMMUTATIVE : 0;
}

/* Whether a derived datatype is only a sequence of the one that it is made from. */
static bool contents_are_in_order(MPI_Datatype type, int integers, int addresses, int types)
{
    int numbers[4];
    MPI_Aint places[1];
    MPI_Datatype made_from[1] = {shim_mpi.datatype_null};
    int unused, combiner = MPI_COMBINER_NAMED;
    bool in_order;

    if (integers > 4 || addresses > 1 || types != 1 ||
        shim_mpi.Type_get_contents(type, integers, addresses, types, numbers, places, made_from) != MPI_SUCCESS) {
        return false;
    }
    in_order = shim_layout_of(made_from[0]).in_order;
    shim_mpi.Type_get_envelope(made_from[0], &unused, &unused, &unused, &combiner);
    if (combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX &&
        combiner != MPI_COMBINER_F90_INTEGER) {
        shim_mpi.Type_free(&made_from[0]);
    }
    return in_order;
}

/* Of datatypes without gaps. Where the answer is not known it is no, which costs a copy. */
static bool is_in_order(MPI_Datatype type)
{
    int integers, addresses, types, combiner;

    if (shim_mpi.Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) {
        return false;
    }
    switch (combiner) {
        case MPI_COMBINER_NAMED:
        case MPI_COMBINER_F90_REAL:
        case MPI_COMBINER_F90_COMPLEX:
        case MPI_COMBINER_F90_INTEGER:
            return true;
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_CONTIGUOUS:
        case MPI_COMBINER_RESIZED:
            return contents_are_in_order(type, integers, addresses, types);
        default:
            return false;
    }
}

static struct shell_layout look_at(MPI_Datatype type)
{
    MPI_Count size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    struct shell_layout layout;

    shim_mpi.Type_size_x(type, &size);
    shim_mpi.Type_get_extent_x(type, &lower, &extent);
    shim_mpi.Type_get_true_extent_x(type, &true_lower, &true_extent);
    layout = (struct shell_layout){(size_t)size,         (MPI_Aint)lower,       (MPI_Aint)extent,
                                   (MPI_Aint)true_lower, (MPI_Aint)true_extent, false};
    layout.in_order = lower == 0 && shell_is_dense(&layout) && is_in_order(type);
    return layout;
}

struct shell_layout shim_layout_of(MPI_Datatype type)
{
    const struct named_type *predefined = named(type);

    return predefined == NULL ? look_at(type) : predefined->layout;
}

static bool is_there(MPI_Datatype type)
{
    return type != shim_mpi.datatype_null && !shim_is_no_handle(type);
}

bool shim_may_receive(MPI_Datatype type)
{
#ifdef OPEN_MPI
    return is_there(type);
#else
    return shim_is_usable(type);
#endif
}

/* Packing of no elements tells: to a communicator of our own, whose errors are no program's. */
bool shim_is_usable(MPI_Datatype type)
{
    char nowhere[1];
    int position = 0;
    MPI_Comm alone;

    if (!is_there(type)) {
        return false;
    }
    if (named(type) != NULL) {
        return true;
    }
    alone = shim_comm_alone();
    return alone == shim_mpi.comm_null ||
           shim_mpi.Pack(nowhere, 0, type, nowhere, sizeof(nowhere), &position, alone) == MPI_SUCCESS;
}

int shim_make_bytes_type(size_t bytes, MPI_Datatype *type)
{
    const size_t block = (size_t)1 << 30;
    int lengths[2] = {(int)(bytes / block), (int)(bytes % block)};
    MPI_Aint places[2] = {0, (MPI_Aint)(bytes / block * block)};
    MPI_Datatype types[2] = {shim_mpi.datatype_null, shim_mpi.byte};
    int status = shim_mpi.Type_contiguous((int)block, shim_mpi.byte, &types[0]);

    if (status != MPI_SUCCESS) {
        return status;
    }
    status = shim_mpi.Type_create_struct(2, lengths, places, types, type);
    shim_mpi.Type_free(&types[0]);
    return status == MPI_SUCCESS ? shim_mpi.Type_commit(type) : status;
}
