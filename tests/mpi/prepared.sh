#!/bin/sh
# prepared.sh BUILD: what `colltopo prepare` left serves a job that names nothing but the topology: the folder beside the topology,
# a standard place at home, a folder that the parameter names; ranks in and out of the hosts' order, several on a host; a network
# that lost a cable; every value is checked.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"
. "$(dirname "$(realpath "$0")")/made_up_nodes.sh"
if ! unshare --uts true 2>/dev/null; then
  echo "SKIP: several hosts on one need 'unshare --uts', which is not permitted here" >&2
  exit 77
fi
export HOME="$scratch/home"
mkdir -p "$HOME"

# on HOSTS COLLECTIVE BYTES [mpirun options]
on() {
  hosts=$1 collective=$2 bytes=$3
  shift 3
  timeout -k 3 60 mpirun --mca plm_rsh_agent "$here/fakersh" --host "$hosts" --mca coll_topo_verbose 1 "$@" \
    "$build/bin/colltopo-bench" --collective "$collective" --bytes "$bytes" --check 2>&1
}

# expect WORDS HOSTS COLLECTIVE BYTES [mpirun options]
expect() {
  words=$1
  shift
  output=$(on "$@") || fail "$*: the job failed: $output"
  printf '%s\n' "$output" | grep -q -e "$words" || fail "$*: no line with '$words': $output"
}
refuse() {
  words=$1
  shift
  output=$(on "$@") || fail "$*: the job failed: $output"
  printf '%s\n' "$output" | grep -q -e "$words" && fail "$*: a line with '$words': $output"
}

# prepare FOLDER TOPO [options]
prepare() {
  folder=$1 network=$2
  shift 2
  "$build/bin/colltopo" prepare "$network" -o "$folder" "$@" >"$scratch/report" 2>&1 || fail "prepare $network: $(cat "$scratch/report")"
}

# first FOLDER COLLECTIVE: a size and the choice of the last rule that is no 'auto', of communicators without lanes.
last_choice() {
  python3 - "$1/rules.json" "$2" <<'END'
import json, sys
entry = json.load(open(sys.argv[1]))["collectives"][sys.argv[2]][-1]
named = [rule for rule in entry["rules"] if rule["alg"] != "auto"]
print(*((max(named[-1]["msg_size_min"], 8) + 7) // 8 * 8, named[-1]["alg"]) if named else ("", ""))
END
}

hosts=node1:1,node2:1,node3:1,node4:1,node5:1,node6:1
others=node5:1,node1:1,node3:1,node6:1,node2:1,node4:1
printf 'node1\nnode2\nnode3\nnode4\nnode5\nnode6\n' >"$scratch/hosts"

# A network that is no grid and whose links are unlike: the model knows nothing of it, so some file must be ahead.
cat >"$scratch/uneven.json" <<'END'
{"colltopo-topology": 1, "name": "uneven", "hosts": 6, "switches": 0, "links": [
  {"tail":0,"head":1,"bandwidth":1e9}, {"tail":1,"head":0,"bandwidth":1e9}, {"tail":1,"head":2,"bandwidth":1e9}, {"tail":2,"head":1,"bandwidth":1e9},
  {"tail":2,"head":3,"bandwidth":1e8}, {"tail":3,"head":2,"bandwidth":1e8}, {"tail":3,"head":4,"bandwidth":1e9}, {"tail":4,"head":3,"bandwidth":1e9},
  {"tail":4,"head":5,"bandwidth":1e9}, {"tail":5,"head":4,"bandwidth":1e9}, {"tail":5,"head":0,"bandwidth":1e8}, {"tail":0,"head":5,"bandwidth":1e8}]}
END
prepare "$scratch/prepared" "$scratch/uneven.json" --hosts "$scratch/hosts"
served=0
for collective in alltoall allgather allreduce bcast; do
  set -- $(last_choice "$scratch/prepared" "$collective")
  [ $# -eq 2 ] || continue
  size=$1 choice=$2
  case $choice in
    file:*)
      served=$((served + 1))
      expect "${choice#file:} (found by" "$hosts" "$collective" "$size" --mca coll_topo_topology "$scratch/prepared/topology.json"
      # A tree has its root on a host, which is another rank's here.
      [ "$collective" = bcast ] || expect "${choice#file:} by host (found by" "$others" "$collective" "$size" --mca coll_topo_topology "$scratch/prepared/topology.json"
      ;;
    *) expect "(rules of a folder" "$hosts" "$collective" "$size" --mca coll_topo_topology "$scratch/prepared/topology.json" ;;
  esac
done
[ "$served" -gt 0 ] || fail "no file serves anything: $(cat "$scratch/prepared/rules.json")"

# Of a standard place, of the parameter, of none.
set -- $(last_choice "$scratch/prepared" allgather)
size=${1:-65536} choice=${2:-}
choice=${choice#file:}
mkdir -p "$HOME/.colltopo/schedules"
mv "$scratch/prepared" "$HOME/.colltopo/schedules/uneven"
cp "$HOME/.colltopo/schedules/uneven/topology.json" "$scratch/elsewhere.json"
expect "$choice" "$hosts" allgather "$size" --mca coll_topo_topology "$scratch/elsewhere.json"
refuse "$choice" "$hosts" allgather "$size" --mca coll_topo_topology "$scratch/elsewhere.json" --mca coll_topo_schedules none
mv "$HOME/.colltopo/schedules/uneven" "$scratch/moved"
refuse "$choice" "$hosts" allgather "$size" --mca coll_topo_topology "$scratch/elsewhere.json"
expect "$choice" "$hosts" allgather "$size" --mca coll_topo_topology "$scratch/elsewhere.json" --mca coll_topo_schedules "$scratch/moved"

# A cable is lost: the same folder, for what is left.
prepare "$scratch/moved" "$scratch/uneven.json" --hosts "$scratch/hosts" --without link 2-3 --collectives allgather
set -- $(last_choice "$scratch/moved" allgather)
if [ $# -eq 2 ]; then
  expect "${2#file:}" "$hosts" allgather "$1" --mca coll_topo_topology "$scratch/moved/topology.json"
fi
exit $failed
