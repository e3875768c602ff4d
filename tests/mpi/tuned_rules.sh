#!/bin/sh
# tuned_rules.sh BUILD: a file that `colltopo rules --for tuned` wrote from measurements is obeyed by Open MPI's tuned: messages of
# one all-to-all are counted by Open MPI's own monitoring, with rules that turn its fixed choice round and without.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"
unset OMPI_MCA_pml  # pml/monitoring opens beside the one that it watches
ompi_info | grep -q 'pml: monitoring' || { echo "SKIP: Open MPI has no pml/monitoring" >&2; exit 77; }
timeout -k 3 60 mpirun -np 1 --mca coll ^topo --mca pml_monitoring_enable 2 "$build/bin/mpi_one_alltoall" 8 >/dev/null 2>&1 ||
  { echo "SKIP: Open MPI's own pml/monitoring ends its jobs here" >&2; exit 77; }

cat >"$scratch/measured.json" <<'END'
{"results": [
  {"collective": "alltoall", "algorithm": "tra:radix=2", "bytes": 16, "ranks": 4, "median_us": 1},
  {"collective": "alltoall", "algorithm": "linear", "bytes": 16, "ranks": 4, "median_us": 2},
  {"collective": "alltoall", "algorithm": "tra:radix=2", "bytes": 4096, "ranks": 4, "median_us": 9},
  {"collective": "alltoall", "algorithm": "linear", "bytes": 4096, "ranks": 4, "median_us": 5}]}
END
"$build/bin/colltopo" rules "$scratch/measured.json" --for tuned -o "$scratch/rules.conf" >/dev/null || fail "colltopo rules"

# messages BYTES [mpirun options]: that rank 0 sends.
messages() {
  bytes=$1
  shift
  rm -f "$scratch"/monitored.*
  timeout -k 3 60 mpirun -np 4 --mca coll ^topo --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 \
    --mca pml_monitoring_filename "$scratch/monitored" "$@" "$build/bin/mpi_one_alltoall" "$bytes" >"$scratch/output" 2>&1 ||
    { fail "$*: $(cat "$scratch/output")"; return; }
  grep -h '^[EI]	0	' "$scratch/monitored.0.prof" | wc -l
}

# expect MESSAGES BYTES [mpirun options]
expect() {
  wanted=$1
  shift
  found=$(messages "$@")
  [ "$found" = "$wanted" ] || fail "alltoall of $1 bytes with rules: $found messages of rank 0, expected $wanted"
}
rules="--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename $scratch/rules.conf"
# On four ranks Bruck's algorithm sends two messages, the others three; by its fixed rules tuned takes one of the others.
expect 3 16
expect 2 16 $rules
expect 3 4096 $rules
exit $failed
