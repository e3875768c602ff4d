! The interposed collectives from Fortran, every element on every rank checked, and every call checked to have been served.
! One source for the three bindings: USE_MPIF (mpif.h), USE_MPI, USE_MPI_F08.
#if defined(USE_MPI_F08)
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif

module outcome
  use iso_c_binding
  implicit none
  interface
    function served(collective) bind(c) result(calls)
      import c_int
      integer(c_int), value :: collective
      integer(c_int) :: calls
    end function
    function must_serve(collective) bind(c) result(expected)
      import c_int
      integer(c_int), value :: collective
      integer(c_int) :: expected
    end function
  end interface
  ! As colltopo.h numbers them.
  integer(c_int), parameter :: alltoall = 0, allgather = 1, reduce_scatter = 2, allreduce = 3, bcast = 4, reduce = 5
  integer :: failures = 0
  integer :: expected(0:5) = 0
contains
  ! `calls` more calls of a collective must have been served by now.
  subroutine count_served(collective, calls)
    integer(c_int), intent(in) :: collective
    integer, intent(in) :: calls
    expected(collective) = expected(collective) + calls * must_serve(collective)
    if (served(collective) /= expected(collective)) then
      print *, 'collective', collective, ': served', served(collective), 'expected', expected(collective)
      failures = failures + 1
    end if
  end subroutine

  subroutine check(name, found, wanted)
    character(*), intent(in) :: name
    integer, intent(in) :: found(:), wanted(:)
    if (any(found /= wanted)) then
      print *, name, ': found', found, 'wanted', wanted
      failures = failures + 1
    end if
  end subroutine
end module

program collectives
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  use outcome
  implicit none
#if defined(USE_MPIF)
  include 'mpif.h'
#endif
  integer, parameter :: n = 11
  integer :: rank, ranks, error, i, r, total
  integer, allocatable :: in(:), out(:), wanted(:), counts(:)
  HANDLE(MPI_Datatype) :: spread_type, column
  HANDLE(MPI_Comm) :: copy

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
  total = ranks * (ranks - 1) / 2
  allocate (in(n * ranks), out(2 * n * ranks), wanted(n * ranks), counts(ranks))

  in = [((1000 * rank + 100 * r + i, i=1, n), r=0, ranks - 1)]
  wanted = [((1000 * r + 100 * rank + i, i=1, n), r=0, ranks - 1)]
  call MPI_Alltoall(in, n, MPI_INTEGER, out, n, MPI_INTEGER, MPI_COMM_WORLD, error)
  call check('alltoall', out(1:n * ranks), wanted)
  call MPI_Alltoall(MPI_IN_PLACE, n, MPI_INTEGER, in, n, MPI_INTEGER, copy, error)
  call check('alltoall in place', in, wanted)
  call count_served(alltoall, 2)

  ! A layout with gaps on one side.
  call MPI_Type_vector(n, 1, 2, MPI_INTEGER, column, error)
  call MPI_Type_create_resized(column, 0_MPI_ADDRESS_KIND, int(storage_size(i) / 8 * 2 * n, MPI_ADDRESS_KIND), spread_type, error)
  call MPI_Type_commit(spread_type, error)
  out = -1
  in(1:n) = [(100 * rank + i, i=1, n)]
  wanted = [((100 * r + i, i=1, n), r=0, ranks - 1)]
  call MPI_Allgather(in, n, MPI_INTEGER, out, 1, spread_type, copy, error)
  call check('allgather', out(1::2), wanted)
  call check('gaps of allgather', out(2::2), [(-1, i=1, n * ranks)])
  call count_served(allgather, 1)

  in = [(rank + i, i=1, n * ranks)]
  call MPI_Allreduce(in, out, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check('allreduce', out(1:n), [(total + ranks * i, i=1, n)])
  out(1:n) = in(1:n)
  call MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
  call check('allreduce in place', out(1:n), [(ranks - 1 + i, i=1, n)])
  call count_served(allreduce, 2)

  counts = [(mod(r, 3) + 1, r=1, ranks)]
  i = sum(counts(1:rank))
  out = -1
  call MPI_Reduce_scatter(in, out, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check('reduce_scatter', out(1:counts(rank + 1)), [(total + ranks * (i + r), r=1, counts(rank + 1))])
  call MPI_Reduce_scatter_block(in, out, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check('reduce_scatter_block', out(1:n), [(total + ranks * (n * rank + i), i=1, n)])
  call count_served(reduce_scatter, 2)

  out = -1
  call MPI_Reduce(in, out, n, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD, error)
  if (rank == ranks - 1) call check('reduce', out(1:n), [(total + ranks * i, i=1, n)])
  if (rank /= ranks - 1) call check('reduce elsewhere', out(1:n), [(-1, i=1, n)])
  call count_served(reduce, 1)

  out = rank
  if (rank == 1) out(1:n) = [(7 * i, i=1, n)]
  call MPI_Bcast(out, n, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
  call check('bcast', out(1:n), [(7 * i, i=1, n)])
  call count_served(bcast, 1)

  call MPI_Comm_free(copy, error)
  call MPI_Type_free(spread_type, error)
  call MPI_Type_free(column, error)
  if (failures > 0) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  call MPI_Finalize(error)
end program
