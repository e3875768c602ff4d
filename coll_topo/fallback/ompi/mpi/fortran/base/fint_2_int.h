/* What ompi/op/op.h needs of a header that Open MPI's installed development headers leave out, for a Fortran INTEGER as
 * wide as a C int (Open MPI refuses any other since 4.0). On the include path only when the real header is missing. */
#ifndef OMPI_FORTRAN_BASE_FINT_2_INT_H
#define OMPI_FORTRAN_BASE_FINT_2_INT_H

#define OMPI_INT_2_FINT(a) ((MPI_Fint) (a))
#define OMPI_FINT_2_INT(a) ((int) (a))

#endif
