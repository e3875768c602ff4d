#!/bin/sh
# run.sh BUILD NODES RANKS [mpirun options] PROGRAM [ARGS]: mpirun with coll/topo from a build folder, as ctest needs it.
#
# With NODES above 1 the ranks are spread over that many nodes made up on this one: a launcher that gives each daemon a host
# name of its own, which needs the right to unshare the name space of host names. Exit status 77: that right is missing.
set -eu
build=$1 nodes=$2 ranks=$3
shift 3
. "$(dirname "$(realpath "$0")")/environment.sh"

if [ "$nodes" -le 1 ]; then
  exec mpirun -np "$ranks" "$@"
fi
if ! unshare --uts true 2>/dev/null; then
  echo "SKIP: $nodes nodes on one host need 'unshare --uts', which is not permitted here" >&2
  exit 77
fi
per_node=$(((ranks + nodes - 1) / nodes))
. "$(dirname "$(realpath "$0")")/made_up_nodes.sh"
hosts=
node=1
while [ "$node" -le "$nodes" ]; do
  hosts="$hosts${hosts:+,}node$node:$per_node"
  node=$((node + 1))
done
exec mpirun --mca plm_rsh_agent "$(dirname "$(realpath "$0")")/fakersh" --host "$hosts" -np "$ranks" "$@"
