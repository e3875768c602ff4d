#!/bin/sh
# stock_defects.sh BUILD: where Open MPI's own choice gives wrong data or hangs, coll/topo is right.
#
# Whether the stock library shows the defects depends on its version, so that half is required of 4.1.4 only.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"

# run SECONDS RANKS ARGS...: output in $output, exit status in $status.
run() {
  seconds=$1 ranks=$2
  shift 2
  output=$(timeout -k 3 "$seconds" "$here/run.sh" "$build" 1 "$ranks" "$@" 2>&1)
  status=$?
}

version=$(ompi_info --version | sed -n 's/^Open MPI v//p')
program=$build/bin/mpi_defects

run 50 16 --mca coll_topo_alltoall_algorithm tra "$program" alltoall
[ $status -eq 0 ] || fail "alltoall with different layouts on 16 ranks by coll/topo: $output"
case $output in *"coll/topo served 1"*) ;; *) fail "the alltoall was not served by coll/topo: $output" ;; esac

run 50 32 --mca coll_topo_allgather_algorithm bruck "$program" allgather
[ $status -eq 0 ] || fail "allgather in place on 32 ranks by coll/topo: status $status: $output"
case $output in *"coll/topo served 1"*) ;; *) fail "the allgather was not served by coll/topo: $output" ;; esac

if [ "$version" = 4.1.4 ]; then
  run 50 16 --mca coll ^topo "$program" alltoall
  case $output in *"elements wrong"*) echo "stock: alltoall wrong on 16 ranks" ;; *) fail "stock 4.1.4 was expected to give wrong data: $output" ;; esac
  # A hanging mpirun may have to be killed, and then leaves its files.
  run 12 32 --mca coll ^topo --mca orte_tmpdir_base "$scratch" --mca btl_vader_backing_directory "$scratch" "$program" allgather
  case $status in
    0) fail "stock 4.1.4 was expected to hang or give wrong data: $output" ;;
    124 | 137) echo "stock: allgather in place on 32 ranks hangs" ;;
    *) echo "stock: allgather in place on 32 ranks: exit status $status" ;;
  esac
fi
exit $failed
