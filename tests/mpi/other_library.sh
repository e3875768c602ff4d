#!/bin/sh
# other_library.sh BUILD: in an Open MPI that it was not built for, the component says so in one line and is not used. The other
# Open MPI is this one with something changed by a library that is loaded first.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"

# in_other WORDS CODE: the job with that code in front of Open MPI is right, unserved, and says one line with the words.
in_other() {
  printf '%s\n' '#include <stdio.h>' '#include <string.h>' "$2" >"$scratch/other.c"
  ${CC:-cc} -shared -fPIC -o "$scratch/other.so" "$scratch/other.c" || fail "the other library does not compile"
  output=$(timeout -k 3 50 "$here/run.sh" "$build" 1 3 -x LD_PRELOAD="$scratch/other.so" \
    --mca coll_topo_alltoall_algorithm linear "$build/bin/mpi_settings" 2>&1) || fail "$1: the job failed: $output"
  lines=$(printf '%s\n' "$output" | grep -c 'coll/topo: ')
  [ "$lines" -eq 1 ] || fail "$1: one line expected, not $lines: $output"
  printf '%s\n' "$output" | grep -q "coll/topo: .*$1.*; not used" || fail "$1: not said: $output"
  printf '%s\n' "$output" | grep -q 'served=0 ' || fail "$1: calls were served: $output"
}

in_other 'built for Open MPI [0-9.]*, but this is 3.9.8' 'int MPI_Get_library_version(char *version, int *length)
{ strcpy(version, "Open MPI v3.9.8, package: made up"); *length = (int) strlen(version); return 0; }'
# A class says how large its objects are; a larger one is harmless to those that make them.
in_other 'ompi_op_t has [0-9]* bytes in this Open MPI and [0-9]*' 'struct class { const char *name; void *parent, *construct, *destruct;
int initialized, depth; void *constructors, *destructors; size_t size; };
extern struct class ompi_op_t_class __attribute__((weak));
__attribute__((constructor)) static void grow(void) { if (&ompi_op_t_class) ompi_op_t_class.size += 64; }'
exit $failed
