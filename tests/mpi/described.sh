#!/bin/sh
# described.sh BUILD SHIM RANKS MODE CALL FORM [INTS...]: a row of the table of defects in docs/open-mpi.md, as mpi_described
# has it, or mpi_shifted for the mode of that name. Open MPI alone fails. The component is right by its own choice and where
# all calls are left to Open MPI, and so is the shim (an empty SHIM: it does not interpose the call). What cannot be mended
# is served even so.
#
# Which releases fail is known of 4.1.4 alone, so that half is required of it only.
set -u
build=$1 shim=$2 ranks=$3
shift 3
. "$(dirname "$(realpath "$0")")/job.sh"
program=$build/bin/mpi_described
[ "$1" != shifted ] || program=$build/bin/mpi_shifted
collective=$2
case $collective in neighbor_*) collective=neighborhood ;; esac

# A hanging mpirun may have to be killed, and then leaves its files.
alone() {
  timeout -k 2 "$1" "$here/run.sh" "$build" 1 "$ranks" --mca coll ^topo --mca orte_tmpdir_base "$scratch" \
    --mca btl_vader_backing_directory "$scratch" "$program" "$2" "$3" "$4" $ints >/dev/null 2>&1
}

# right WHO OPTIONS...: the program with mpirun's options.
right() {
  who=$1
  shift
  output=$(timeout -k 3 60 "$here/run.sh" "$build" 1 "$ranks" "$@" $ints 2>&1) || fail "$who: status $?: $output"
}

mode=$1 call=$2 form=$3
shift 3
ints=$*
if [ "$(ompi_info --version | sed -n 's/^Open MPI v//p')" = 4.1.4 ]; then
  alone 5 "$mode" "$call" "$form" && fail "Open MPI 4.1.4 alone is right; expected a defect that the docs list"
fi
right "the component" "$program" "$mode" "$call" "$form"
right "left to Open MPI" --mca "coll_topo_${collective}_algorithm" fallback "$program" "$mode" "$call" "$form"
if [ -n "$shim" ]; then
  right "the shim" --mca coll ^topo -x "LD_PRELOAD=$shim" "$program" "$mode" "$call" "$form"
  name=COLLTOPO_$(echo "$collective" | tr a-z A-Z)_ALGORITHM
  right "left by the shim" --mca coll ^topo -x "LD_PRELOAD=$shim" -x "$name=fallback" "$program" "$mode" "$call" "$form"
fi
exit $failed
