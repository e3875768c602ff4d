#!/bin/sh
# component_lists.sh BUILD: include lists of `--mca coll`, which stock Open MPI refuses unless they serve everything.
set -u
build=$1
here=$(dirname "$(realpath "$0")")
failed=0

for list in topo topo,basic tuned,topo topo,tuned,libnbc basic,topo,libnbc topo,libnbc topo,han topo,basic,libnbc,self,inter; do
  output=$(timeout -k 3 50 "$here/run.sh" "$build" 1 3 --mca coll "$list" --mca coll_topo_alltoall_algorithm linear "$build/bin/mpi_settings" 2>&1)
  if [ $? -ne 0 ] || ! printf '%s\n' "$output" | grep -q 'served=[1-9]'; then
    echo "FAILED: --mca coll $list: $output" >&2
    failed=1
  fi
done

# Off switches.
output=$(timeout -k 3 50 "$here/run.sh" "$build" 1 3 --mca coll_topo_priority -1 --mca coll_topo_alltoall_algorithm linear "$build/bin/mpi_settings" 2>&1)
printf '%s\n' "$output" | grep -q 'served=0 left=0' || { echo "FAILED: priority -1 left the component on: $output" >&2; failed=1; }
output=$(timeout -k 3 50 "$here/run.sh" "$build" 1 3 --mca coll ^topo "$build/bin/mpi_settings" 2>&1)
printf '%s\n' "$output" | grep -q 'served=0 left=0' || { echo "FAILED: --mca coll ^topo: $output" >&2; failed=1; }

# A list in the environment must not trouble ompi_info, which loads every component whatever the list says.
OMPI_MCA_coll=topo OMPI_MCA_mca_base_component_path="SYSTEM_DEFAULT:$build/lib/openmpi" ompi_info --param coll all --level 9 2>&1 |
  grep -q coll_topo_alltoall_algorithm || { echo "FAILED: ompi_info does not list the parameters" >&2; failed=1; }
exit $failed
