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

# Left to the next component by force, the allgather is handed on with the count that counts.
run 50 32 --mca coll_topo_allgather_algorithm fallback "$program" allgather
[ $status -eq 0 ] || fail "allgather in place on 32 ranks, left to the next component: status $status: $output"
case $output in *"coll/topo served 0"*) ;; *) fail "the allgather was served: $output" ;; esac

# The alltoall is handed on with the input laid out as the output, in the first call and in those that are known to be
# declined.
for ranks in 16 33; do
  run 50 $ranks --mca coll_topo_alltoall_algorithm fallback "$program" alltoall 1 3
  [ $status -eq 0 ] || fail "alltoall with different layouts on $ranks ranks, left to the next component: $output"
  case $output in *"coll/topo served 0"*) ;; *) fail "the alltoall was served: $output" ;; esac
done

# So it is by the shim.
shim=$build/lib/libcolltopo_mpi.so
if [ -e "$shim" ]; then
  for ranks in 16 33; do
    run 50 $ranks --mca coll ^topo -x "LD_PRELOAD=$shim" -x COLLTOPO_ALLTOALL_ALGORITHM=fallback "$program" alltoall 1 3
    [ $status -eq 0 ] || fail "alltoall with different layouts on $ranks ranks, left by the shim: $output"
  done
  run 50 32 --mca coll ^topo -x "LD_PRELOAD=$shim" -x COLLTOPO_ALLGATHER_ALGORITHM=fallback "$program" allgather
  [ $status -eq 0 ] || fail "allgather in place on 32 ranks, left by the shim: status $status: $output"
fi

# What is said about calls that tuned does wrong: by release, ranks and bytes.
said="alltoall of 4 to 511 bytes on 16 ranks: tuned of this Open MPI gives wrong data"
run 50 16 --mca coll_topo_verbose 1 "$program" alltoall
case $version:$output in
  4.1.*:*"$said"*) ;;
  4.1.*:*) fail "coll/topo does not know what is wrong in $version: $output" ;;
  *"$said"*) fail "coll/topo calls Open MPI $version wrong: $output" ;;
esac
run 50 15 --mca coll_topo_verbose 1 "$program" alltoall
case $output in *"gives wrong data"*) fail "15 ranks are said to go wrong: $output" ;; esac
run 50 16 --mca coll_topo_verbose 1 --mca coll ^tuned "$program" alltoall
case $output in *"gives wrong data"*) fail "calls of another component are said to go wrong: $output" ;; esac

if [ "$version" = 4.1.4 ]; then
  # The edges of the table: 504 bytes and 512 on 16 ranks, 8 on 15.
  run 50 16 --mca coll ^topo "$program" alltoall 63
  case $output in *"elements wrong"*) ;; *) fail "stock 4.1.4 was expected to give wrong data for 504 bytes: $output" ;; esac
  run 50 16 --mca coll ^topo "$program" alltoall 64
  [ $status -eq 0 ] || fail "stock 4.1.4 gives wrong data for 512 bytes, which the table of coll/topo lacks: $output"
  run 50 15 --mca coll ^topo "$program" alltoall
  [ $status -eq 0 ] || fail "stock 4.1.4 gives wrong data on 15 ranks, which the table of coll/topo lacks: $output"
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
