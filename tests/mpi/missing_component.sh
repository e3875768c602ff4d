#!/bin/sh
# missing_component.sh BUILD [all]: processes of a job that have no coll/topo, or another one than the others. All calls are
# Open MPI's own then: values are right, nobody waits for ever, and one line names the process and the difference. With `all`
# for every number of ranks, every rank that may differ, and more ways to differ.
set -u
build=$1 which=${2:-few}
. "$(dirname "$(realpath "$0")")/job.sh"
. "$(dirname "$(realpath "$0")")/made_up_nodes.sh"
program=$build/bin/mpi_missing
jobs=0

# Like the component, of another build: its build id differs.
mkdir "$scratch/other"
cp "$build/lib/openmpi/mca_coll_topo.so" "$scratch/other/"
id=$(readelf -n "$scratch/other/mca_coll_topo.so" | sed -n 's/.*Build ID: *//p')
python3 - "$scratch/other/mca_coll_topo.so" "$id" <<'EOF' || fail "no other build can be made"
import sys
path, number = sys.argv[1], bytes.fromhex(sys.argv[2])
data = open(path, "rb").read()
at = data.index(number)
open(path, "wb").write(data[:at] + bytes([number[0] ^ 1]) + data[at + 1:])
EOF

# with RANKS ODD SETTING [mpirun options]: the processes whose rank is among ODD (" 1 2 ") are told SETTING=VALUE.
# shellcheck disable=SC2016
with() {
  ranks=$1 odd=$2 setting=$3
  shift 3
  output=$(timeout -k 3 100 mpirun "$@" -np "$ranks" sh -c '
    case "$1" in *" $OMPI_COMM_WORLD_RANK "*) exec env "$2" "$3" ;; esac
    exec "$3"' sh "$odd" "$setting" "$program" 2>&1)
  status=$?
  jobs=$((jobs + 1))
}

# differs WORDS RANKS ODD SETTING [mpirun options]
differs() {
  words=$1
  shift
  with "$@"
  [ $status -ne 124 ] && [ $status -ne 137 ] || fail "$*: ranks wait for ever: $output"
  [ $status -eq 0 ] || fail "$*: the job ended with $status: $output"
  printf '%s\n' "$output" | grep -q '^wrong=0$' || fail "$*: wrong data: $output"
  lines=$(printf '%s\n' "$output" | grep -c 'coll/topo: ')
  [ "$lines" -eq 1 ] || fail "$*: one line expected, not $lines: $output"
  printf '%s\n' "$output" | grep -Eq "coll/topo: rank [0-9]+ of MPI_COMM_WORLD on [^ ]+ $words; all ranks must have the same; using the next component" ||
    fail "$*: no line that says '$words': $output"
}

none=OMPI_MCA_mca_base_component_path=SYSTEM_DEFAULT
other=OMPI_MCA_mca_base_component_path=SYSTEM_DEFAULT:$scratch/other
lacks='does not have coll/topo'
if [ "$which" = all ]; then
  for ranks in 2 3 4 5 6 7 8; do
    odd=0
    while [ $odd -lt $ranks ]; do
      differs "$lacks" $ranks " $odd " "$none"
      odd=$((odd + 1))
    done
    differs 'has coll_topo_priority -1, not 60' $ranks ' 1 ' OMPI_MCA_coll_topo_priority=-1
    differs 'has another build of coll/topo' $ranks ' 1 ' "$other"
  done
  differs "$lacks" 8 ' 0 1 2 3 ' "$none"
  differs "$lacks" 8 ' 4 5 6 7 ' "$none"
  differs "$lacks" 8 ' 0 2 5 7 ' "$none"
fi
differs "$lacks" 4 ' 1 ' "$none"
differs "$lacks" 3 ' 0 ' "$none"
differs "$lacks" 5 ' 0 3 4 ' OMPI_MCA_coll=^topo
differs 'has coll_topo_priority (-1|60), not (-1|60)' 3 ' 2 ' OMPI_MCA_coll_topo_priority=-1
differs 'has coll_topo_priority (50|60), not (50|60)' 4 ' 0 ' OMPI_MCA_coll_topo_priority=50
differs 'has another build of coll/topo' 4 ' 2 3 ' "$other"
differs 'has other components or priorities of coll' 2 ' 1 ' OMPI_MCA_coll=^adapt
differs 'has other components or priorities of coll' 2 ' 1 ' OMPI_MCA_coll_adapt_priority=1
differs "$lacks" 3 ' 1 ' "$none" --mca pml_base_verbose 0 --mca btl tcp,self
if ompi_info --parsable | grep -q '^mca:pml:ucx:'; then
  differs "$lacks" 3 ' 2 ' "$none" --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any --mca osc ^ucx
fi
# Where processes ask for what they need of others later, and for what a process has not published, for long.
differs "$lacks" 2 ' 1 ' "$none" --mca pmix_base_async_modex 1 --mca pmix_base_collect_data 0
if unshare --uts true 2>/dev/null; then
  for how in 0 1; do
    differs "$lacks" 4 ' 2 3 ' "$none" --mca plm_rsh_agent "$here/fakersh" --host node1:2,node2:2 \
      --mca pmix_base_async_modex $how --mca pmix_base_collect_data $((1 - how))
  done
fi

# All alike, in every one of these ways: served.
for how in 0 1; do
  with 3 ' none ' A=B --mca coll_topo_verbose 1 --mca pmix_base_async_modex $how --mca pmix_base_collect_data $((1 - how))
  printf '%s\n' "$output" | grep -q '^wrong=0$' || fail "alike: wrong data: $output"
  printf '%s\n' "$output" | grep -q 'coll/topo: allreduce of .* on 3 ranks' || fail "alike: not served: $output"
  ! printf '%s\n' "$output" | grep -q 'must have the same' || fail "alike: they differ: $output"
done

# A process that is started later, with it and without.
printf '#!/bin/sh\nexec env %s %s "$@"\n' "$none" "$program" >"$scratch/without"
chmod +x "$scratch/without"
for command in "$program" "$scratch/without"; do
  output=$(timeout -k 3 100 mpirun -np 1 --mca coll_topo_verbose 1 "$program" spawn "$command" 2>&1)
  status=$?
  [ $status -eq 0 ] || fail "spawned by $command: the job ended with $status: $output"
  printf '%s\n' "$output" | grep -q '^wrong=0$' || fail "spawned by $command: wrong data: $output"
  lines=$(printf '%s\n' "$output" | grep -c 'coll/topo: rank 0 of another job on .* does not have coll/topo; all ranks must have the same')
  served=$(printf '%s\n' "$output" | grep -c 'coll/topo: allreduce of .* on 2 ranks')
  case $command in
    */without) [ "$lines" -eq 1 ] && [ "$served" -eq 0 ] || fail "spawned without: $lines lines, $served served: $output" ;;
    *) [ "$lines" -eq 0 ] && [ "$served" -gt 0 ] || fail "spawned with: $lines lines, $served served: $output" ;;
  esac
done
echo "$jobs jobs"
exit $failed
