! Calls that do not block, and persistent ones, from Fortran: arrays of counts, places and datatypes are overwritten and
! deallocated as soon as the call has returned, datatypes and communicators freed, and Open MPI's bindings free copies of
! their own. Each is the first call of its communicator, or a later one. Every element is checked, gaps too.
! One source for the three bindings: USE_MPIF (mpif.h), USE_MPI, USE_MPI_F08.
#if defined(USE_MPI_F08)
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif
#if defined(PERSISTENT_IS_EXTENSION)
#define MPI_Alltoallw_init MPIX_Alltoallw_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Allgatherv_init MPIX_Allgatherv_init
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#define MPI_Reduce_scatter_init MPIX_Reduce_scatter_init
#define MPI_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
#define MPI_Neighbor_alltoallv_init MPIX_Neighbor_alltoallv_init
#define MPI_Neighbor_allgatherv_init MPIX_Neighbor_allgatherv_init
#endif

program handed_on
#if defined(USE_MPI_F08)
  use mpi_f08
#if defined(PERSISTENT_IS_EXTENSION)
  use mpi_f08_ext
#endif
#elif defined(USE_MPI)
  use mpi
#if defined(PERSISTENT_IS_EXTENSION)
  use mpi_ext
#endif
#endif
  implicit none
#if defined(USE_MPIF)
  include 'mpif.h'
#if defined(PERSISTENT_IS_EXTENSION)
  include 'mpif-ext.h'
#endif
#endif
  integer, parameter :: room = 4, gap = -5, root = 1, garbage = 1802201963
  character(len=20), parameter :: names(9) = [character(len=20) :: 'alltoallw', 'alltoallv', 'allgatherv', 'gatherv', &
    'scatterv', 'reduce_scatter', 'neighbor_alltoallw', 'neighbor_alltoallv', 'neighbor_allgatherv']
  integer :: rank, ranks, error, name, first, gaps, persistent, in_place, failures = 0, checks = 0
  integer, allocatable, asynchronous :: in(:), out(:)
  integer, allocatable :: wanted(:), sc(:), rc(:), sd(:), rd(:), from(:), to(:)
  integer(kind=MPI_ADDRESS_KIND), allocatable :: sa(:), ra(:)
  HANDLE(MPI_Datatype), allocatable :: st(:), rt(:)
  HANDLE(MPI_Datatype) :: element
  HANDLE(MPI_Request) :: request
  HANDLE(MPI_Comm) :: comm, grid
  integer :: stride

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., grid, error)
  do name = 1, size(names)
    do first = 0, 1
      do gaps = 0, 1
        do persistent = 0, 1
          do in_place = 0, merge(1, 0, name <= 3 .or. name == 6)
            call one_call()
          end do
        end do
      end do
    end do
  end do
  call MPI_Comm_free(grid, error)
  if (failures == 0 .and. rank == 0) print '(i0, a, i0)', checks, ' checks passed on rank 0 of ', ranks
  call MPI_Finalize(error)
  if (failures > 0) stop 1

contains

  logical function is(what)
    character(*), intent(in) :: what
    is = trim(names(name)) == what
  end function

  logical function among_neighbors()
    among_neighbors = name >= 7
  end function

  ! Elements that `a` has for `b`; the same both ways.
  integer function elements(a, b)
    integer, intent(in) :: a, b
    elements = 1 + mod(a + b, 3)
    if (index(names(name), 'gather') > 0) elements = 1 + mod(a, 3)
    if (is('scatterv') .or. is('reduce_scatter')) elements = 1 + mod(b, 3)
  end function

  integer function number(a, b, i, round)
    integer, intent(in) :: a, b, i, round
    number = 100000 * (a + 1) + 1000 * b + 10 * i + round
    if (index(names(name), 'gather') > 0) number = 100000 * (a + 1) + 10 * i + round
  end function

  subroutine put(memory, block, count, a, b, round)
    integer, intent(inout) :: memory(:)
    integer, intent(in) :: block, count, a, b, round
    integer :: i
    do i = 1, count
      memory(1 + stride * (room * (block - 1) + i - 1)) = number(a, b, i, round)
    end do
  end subroutine

  subroutine fill(round)
    integer, intent(in) :: round
    integer :: block, i, at
    in = gap
    out = gap
    wanted = gap
    if (is('reduce_scatter')) then
      at = 0
      do block = 1, ranks
        do i = 1, elements(rank, block - 1)
          in(1 + stride * at) = number(rank, block - 1, i, round)
          at = at + 1
        end do
      end do
      if (in_place == 1) out(:size(in)) = in
      wanted = out
      do i = 1, elements(rank, rank)
        wanted(1 + stride * (i - 1)) = sum([(number(block, rank, i, round), block=0, ranks - 1)])
      end do
      return
    end if
    do block = 1, size(to)
      if (index(names(name), 'gather') > 0) then
        if (block == 1) call put(in, 1, elements(rank, 0), rank, 0, round)
      else if (.not. is('scatterv') .or. rank == root) then
        call put(in, block, elements(rank, to(block)), rank, to(block), round)
      end if
    end do
    if (in_place == 1 .and. is('allgatherv')) then
      call put(out, rank + 1, elements(rank, 0), rank, 0, round)
    else if (in_place == 1) then
      do block = 1, ranks
        call put(out, block, elements(rank, block - 1), rank, block - 1, round)
      end do
    end if
    wanted = out
    if (is('scatterv')) then
      call put(wanted, 1, elements(root, rank), root, rank, round)
    else if (.not. is('gatherv') .or. rank == root) then
      do block = 1, size(from)
        call put(wanted, block, elements(from(block), rank), from(block), rank, round)
      end do
    end if
  end subroutine

  subroutine make_arrays()
    integer :: i
    if (among_neighbors()) then
      from = [modulo(rank - 1, ranks), modulo(rank + 1, ranks)]
      to = from
    else
      from = [(i, i=0, ranks - 1)]
      to = from
    end if
    sc = [(elements(rank, to(i)), i=1, size(to))]
    rc = [(elements(from(i), rank), i=1, size(from))]
    sd = [(room * (i - 1), i=1, size(to))]
    rd = sd
    if (is('alltoallw')) then
      sd = 4 * stride * sd
      rd = sd
    end if
    sa = 4_MPI_ADDRESS_KIND * stride * sd
    ra = sa
    ! Open MPI's binding reads one for each rank, whoever the neighbours are.
    allocate (st(max(size(to), ranks)), rt(max(size(from), ranks)))
    st = element
    rt = element
  end subroutine

  ! What the program was free to do with them as soon as the call had returned, but for MPI's word.
  subroutine spoil()
    sc = garbage
    rc = garbage
    sd = garbage
    rd = garbage
    sa = garbage
    ra = garbage
    st(:) = MPI_DATATYPE_NULL
    rt(:) = MPI_DATATYPE_NULL
    deallocate (sc, rc, sd, rd, sa, ra, st, rt)
  end subroutine

  subroutine begin()
    integer :: own
    own = elements(rank, 0)
    select case (names(name))
    case ('alltoallw')
      if (in_place == 1 .and. persistent == 1) then
        call MPI_Alltoallw_init(MPI_IN_PLACE, sc, sd, st, out, rc, rd, rt, comm, MPI_INFO_NULL, request, error)
      else if (in_place == 1) then
        call MPI_Ialltoallw(MPI_IN_PLACE, sc, sd, st, out, rc, rd, rt, comm, request, error)
      else if (persistent == 1) then
        call MPI_Alltoallw_init(in, sc, sd, st, out, rc, rd, rt, comm, MPI_INFO_NULL, request, error)
      else
        call MPI_Ialltoallw(in, sc, sd, st, out, rc, rd, rt, comm, request, error)
      end if
    case ('alltoallv')
      if (in_place == 1 .and. persistent == 1) then
        call MPI_Alltoallv_init(MPI_IN_PLACE, sc, sd, element, out, rc, rd, element, comm, MPI_INFO_NULL, request, error)
      else if (in_place == 1) then
        call MPI_Ialltoallv(MPI_IN_PLACE, sc, sd, element, out, rc, rd, element, comm, request, error)
      else if (persistent == 1) then
        call MPI_Alltoallv_init(in, sc, sd, element, out, rc, rd, element, comm, MPI_INFO_NULL, request, error)
      else
        call MPI_Ialltoallv(in, sc, sd, element, out, rc, rd, element, comm, request, error)
      end if
    case ('allgatherv')
      if (in_place == 1 .and. persistent == 1) then
        call MPI_Allgatherv_init(MPI_IN_PLACE, own, element, out, rc, rd, element, comm, MPI_INFO_NULL, request, error)
      else if (in_place == 1) then
        call MPI_Iallgatherv(MPI_IN_PLACE, own, element, out, rc, rd, element, comm, request, error)
      else if (persistent == 1) then
        call MPI_Allgatherv_init(in, own, element, out, rc, rd, element, comm, MPI_INFO_NULL, request, error)
      else
        call MPI_Iallgatherv(in, own, element, out, rc, rd, element, comm, request, error)
      end if
    case ('gatherv')
      if (persistent == 1) then
        call MPI_Gatherv_init(in, own, element, out, rc, rd, element, root, comm, MPI_INFO_NULL, request, error)
      else
        call MPI_Igatherv(in, own, element, out, rc, rd, element, root, comm, request, error)
      end if
    case ('scatterv')
      own = elements(root, rank)
      if (persistent == 1) then
        call MPI_Scatterv_init(in, sc, sd, element, out, own, element, root, comm, MPI_INFO_NULL, request, error)
      else
        call MPI_Iscatterv(in, sc, sd, element, out, own, element, root, comm, request, error)
      end if
    case ('reduce_scatter')
      if (in_place == 1 .and. persistent == 1) then
        call MPI_Reduce_scatter_init(MPI_IN_PLACE, out, sc, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request, error)
      else if (in_place == 1) then
        call MPI_Ireduce_scatter(MPI_IN_PLACE, out, sc, MPI_INTEGER, MPI_SUM, comm, request, error)
      else if (persistent == 1) then
        call MPI_Reduce_scatter_init(in, out, sc, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request, error)
      else
        call MPI_Ireduce_scatter(in, out, sc, MPI_INTEGER, MPI_SUM, comm, request, error)
      end if
    case ('neighbor_alltoallw')
      if (persistent == 1) then
        call MPI_Neighbor_alltoallw_init(in, sc, sa, st, out, rc, ra, rt, comm, MPI_INFO_NULL, request, error)
      else
        call MPI_Ineighbor_alltoallw(in, sc, sa, st, out, rc, ra, rt, comm, request, error)
      end if
    case ('neighbor_alltoallv')
      if (persistent == 1) then
        call MPI_Neighbor_alltoallv_init(in, sc, sd, element, out, rc, rd, element, comm, MPI_INFO_NULL, request, error)
      else
        call MPI_Ineighbor_alltoallv(in, sc, sd, element, out, rc, rd, element, comm, request, error)
      end if
    case ('neighbor_allgatherv')
      if (persistent == 1) then
        call MPI_Neighbor_allgatherv_init(in, own, element, out, rc, rd, element, comm, MPI_INFO_NULL, request, error)
      else
        call MPI_Ineighbor_allgatherv(in, own, element, out, rc, rd, element, comm, request, error)
      end if
    end select
  end subroutine

  subroutine check(start)
    integer, intent(in) :: start
    checks = checks + 1
    if (all(out == wanted)) return
    failures = failures + 1
    if (failures > 5) return
    print *, trim(names(name)), ' first ', first, ' gaps ', gaps, ' persistent ', persistent, ' in place ', in_place, &
      ' start ', start, ' rank ', rank, ': found ', out, ' wanted ', wanted
  end subroutine

  subroutine one_call()
    integer :: starts, start, one, total
    integer(kind=MPI_ADDRESS_KIND), parameter :: zero = 0
    stride = merge(2, 1, gaps == 1 .and. .not. is('reduce_scatter'))
    element = MPI_INTEGER
    if (stride == 2) then
      call MPI_Type_create_resized(MPI_INTEGER, zero, 8_MPI_ADDRESS_KIND, element, error)
      call MPI_Type_commit(element, error)
    end if
    if (among_neighbors()) then
      call MPI_Comm_dup(grid, comm, error)
    else
      call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
    end if
    one = 1
    if (first == 0) call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, comm, error)
    allocate (in(2 * room * ranks + 4 * room), out(2 * room * ranks + 4 * room), wanted(2 * room * ranks + 4 * room))
    call make_arrays()
    call fill(1)
    call begin()
    call spoil()
    if (stride == 2) call MPI_Type_free(element, error)
    call MPI_Comm_free(comm, error)
    starts = merge(3, 1, persistent == 1)
    do start = 1, starts
      if (persistent == 1) then
        call fill(start)
        call MPI_Start(request, error)
      end if
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
      call check(start)
    end do
    if (persistent == 1) call MPI_Request_free(request, error)
    deallocate (in, out, wanted)
  end subroutine

end program
