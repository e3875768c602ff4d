#!/bin/bash
# command_test.sh COLLTOPO CASE: runs one case of the command's tests in a folder of its own.
#
# A case is a function. `expect STATUS PATTERN ARGUMENTS...` runs colltopo and checks its exit status and that what it
# prints (both streams) matches the extended regular expression.
set -u
colltopo=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

expect() {
  local status=$1 pattern=$2
  shift 2
  local output got
  output=$("$colltopo" "$@" 2>&1)
  got=$?
  [ $got -eq "$status" ] || fail "colltopo $*: exit status $got, not $status: $output"
  grep -Eq -- "$pattern" <<<"$output" || fail "colltopo $*: does not print '$pattern': $output"
}

# One line on standard error, nothing on standard output.
expect_one_line() {
  expect "$@"
  shift 2
  [ "$("$colltopo" "$@" 2>&1 | wc -l)" -eq 1 ] || fail "colltopo $*: not one line: $("$colltopo" "$@" 2>&1)"
  [ -z "$("$colltopo" "$@" 2>/dev/null)" ] || fail "colltopo $*: prints to standard output"
}

# expect_json EXPRESSION ARGUMENTS...: standard output is one JSON object `it` for which the Python expression holds.
expect_json() {
  local expression=$1
  shift
  "$colltopo" "$@" --json 2>/dev/null >answer.json
  python3 -c '
import json, sys
it = json.load(open("answer.json"))
sys.exit(0 if eval(sys.argv[1]) else 1)' "$expression" || fail "colltopo $* --json: not $expression: $(cat answer.json)"
}

tra8() { "$colltopo" generate tra ring:8 --radix 3 -o tra.sched >/dev/null || fail "cannot make tra.sched"; }

help() {
  expect 0 'First steps' --help
  expect 0 '^colltopo [0-9]+\.[0-9]+\.[0-9]+$' --version
  for command in topology bound generate verify cost draw explain convert routes prepare simulate rules; do
    expect 0 "^  $command " --help
    expect 0 '--json' $command --help
  done
  expect 0 'swing' generate --help
}

topology() {
  expect 0 'hosts +27' topology torus:3x3x3
  expect 0 'links +162 \(each cable is two\)' topology torus:3x3x3
  expect 0 'links +24 \(some go one way only\)' topology kautz:12:2
  expect 0 'diameter +3 hops' topology torus:3x3x3
  expect 0 'bisection +50 Gb/s' topology ring:8
  expect 0 'bandwidth +100 Gb/s' topology ring:8/bandwidth:100Gbps
  expect_json 'it["hosts"] == 16 and it["switches"] == 1 and it["links"] == 32 and it["regular"]' topology switch:16
  expect 0 'vertex transitive +yes: all hosts are alike' topology hypercube:4
  expect 0 'link transitive +no: 2 kinds of links' topology torus:3x4
  expect 0 'automorphisms +1152' topology bipartite:4:4
  expect 0 'theorem 1 time +[0-9.]+ or more' topology kautz:12:2
  expect_json 'it["host_orbits"] == 100 and it["link_orbits"] == 400 and it["theorem_1_time"] > 0' topology kautz:1000:4
  expect_json 'it["link_orbits"] == 2 and "theorem_1_time" not in it' topology switch:4
  expect_json 'it["hosts"] == 72 and it["switches"] == 36 and it["diameter"] == 5' topology dragonfly:4:2:2
  expect_json 'it["hosts"] == 24 and it["connected"]' topology torus:3x3x3/drop-hosts:3:2
  expect_json 'it["sides"] == [4, 4] and it["wraps"] and it["diameter"] == 4' topology torus:4x4
  expect_json 'it["degree"] == 4 and it["smallest_degree"] == 2 and not it["regular"]' topology mesh:4x4
}

topology_files() {
  for spec in ring:5 mesh:2x3 torus:3x3 hypercube:3 complete:4 bipartite:2:3 switch:4 dgx-a100:2 torus:3x3/injection:2; do
    "$colltopo" topology "$spec" --json | grep -v '"file"' >spec.json
    expect 0 "net.json" topology "$spec" -o net.json
    "$colltopo" topology net.json --json >file.json
    cmp -s spec.json file.json || fail "$spec: $(diff spec.json file.json)"
  done
  "$colltopo" generate ring net.json -o ring.sched >/dev/null || fail 'a topology file does not generate'
  expect 0 'valid' verify ring.sched --on net.json
  # Modifiers follow a file's name as they follow a family.
  "$colltopo" topology torus:2x2x2 -o cube.json >/dev/null || fail "no file"
  expect_json 'it["hosts"] == 16 and it["switches"] == 8' topology cube.json/ranks:2
  expect_json 'it["hosts"] == 7' topology ./cube.json/drop-hosts:1/latency:2us
  expect_one_line 2 "cube.json/speed:9: unknown modifier 'speed'" topology cube.json/speed:9
}

# Files of others' tools: read by content, by --format, from standard input, and wherever a topology is expected.
topology_formats() {
  expect_json 'it["hosts"] == 16 and it["switches"] == 6 and it["connected"]' topology "$COLLTOPO_SAMPLES/topology.conf"
  expect_json 'it["hosts"] == 4 and it["degree"] == 2' topology "$COLLTOPO_SAMPLES/ibnetdiscover.txt"
  expect_json 'it["bandwidth"] == 6.25e9' topology "$COLLTOPO_SAMPLES/topology.yaml" --format slurm-yaml:host=50Gbps
  expect 0 'hosts +4$' topology - <"$COLLTOPO_SAMPLES/nccl-topo.xml"
  expect 0 'hosts +16$' topology "switches:$COLLTOPO_SAMPLES/topology.conf"
  expect 0 'ranks +36' generate ring "$COLLTOPO_SAMPLES/topology-blocks.conf" -c allgather
  expect 0 'node03' draw "$COLLTOPO_SAMPLES/cluster.dot"
  "$colltopo" draw - -o - <"$COLLTOPO_SAMPLES/cluster.graphml" | grep -q 'node-c' || fail 'no host name in the picture'
  for format in json graphml hwloc nccl dot slurm slurm-yaml ibnetdiscover mpich edges; do
    expect 0 "^  $format " topology --help
  done
  expect_one_line 2 'ring:4: no such file; --format is for topology files' topology ring:4 --format slurm
  expect_one_line 2 "format 'chalk' is unknown; expected one of: json" topology "$COLLTOPO_SAMPLES/topology.conf" --format chalk
  expect_one_line 2 'broken/slurm-cycle.conf:2: switch' topology "$COLLTOPO_SAMPLES/broken/slurm-cycle.conf"
  expect_one_line 2 'no/such.conf: cannot be read' topology switches:no/such.conf
}

# Every format that is written, chosen by the file's name, by --to and by convert, gives the same topology again.
topology_convert() {
  "$colltopo" topology "$COLLTOPO_SAMPLES/ibnetdiscover.txt" --json | grep -v '"file"' >first.json
  for file in net.json net.graphml net.dot net.edges; do
    expect 0 "file +$file" topology "$COLLTOPO_SAMPLES/ibnetdiscover.txt" -o $file
    "$colltopo" topology $file --json >again.json
    cmp -s first.json again.json || fail "$file: $(diff first.json again.json)"
  done
  for format in topo-json:net.json graphml:net.graphml dot:net.dot edges:net.edges; do
    "$colltopo" convert net.json --to ${format%:*} >converted || fail "convert --to ${format%:*}"
    cmp -s converted ${format#*:} || fail "convert --to ${format%:*} differs from topology -o"
  done
  "$colltopo" topology net.dot -o - --to edges | cmp -s - net.edges || fail '--to edges'
  dot -Tsvg net.dot 2>&1 | grep -q node01 || fail "Graphviz cannot draw net.dot: $(dot -Tsvg net.dot 2>&1 | head -3)"
  expect_json 'it["hosts"] == 4 and it["format"] == "dot"' convert net.json --to dot -o again.dot
  expect_one_line 2 '--to needs -o' topology net.json --to dot
  expect_one_line 2 'a topology has no seals' convert net.json --to dot --reseal
}

bound() {
  expect 0 'F +0.111111111$' bound alltoall torus:3x3x3
  expect_json 'abs(it["F"] * 27 - 2) < 1e-7 and abs(it["F_upper"] * 27 - 2) < 1e-7' bound alltoall torus:3x3x3/host-bandwidth:4
  expect_json 'it["F"] == it["F_upper"] == 1 / 64 and it["gap"] == 0' bound alltoall torus:8x8 --no-symmetry
  expect_json 'it["F"] <= it["F_upper"] and abs(it["gap"] - (it["F_upper"] / it["F"] - 1)) < 1e-12' bound alltoall kautz:200:4
  expect_json 'it["gap"] <= 1e-6 and it["F"] * it["inverse_F"] == 1' bound alltoall kautz:200:4 --gap 1e-6
  # 3 hosts on a ring: 1 unit a link; 25 Gb/s are 3.125 GB/s.
  expect_json 'abs(it["time_lower_bound"] - 1 / 3.125e9) < 1e-18 and abs(it["throughput_bound_GBps"] - 6.25) < 1e-9' bound alltoall ring:3
  expect_json 'it["inverse_F_of_degree"] == 9' bound alltoall kautz:21:4
  expect_json '"inverse_F_of_degree" not in it' bound alltoall switch:4
  expect_json 'it["utilisation"]["most"] == 1 and it["utilisation"]["least"] < 0.9' bound alltoall torus:3x3x3/host-bandwidth:4
  expect_json 'abs(it["inverse_F"] - 4) < 1e-6' bound alltoall ring:4 --without link 0-1
  expect 1 'not the 1e-09 asked for' bound alltoall kautz:300:3 --gap 1e-9 --seconds 0
  expect_json 'abs(it["time_lower_bound"] * 800e9 - 30) < 1e-9 and "cuts" in it["method"]' bound allreduce torus:4x4/bandwidth:100Gbps
  expect_json 'abs(it["trees_time"] * 800e9 - 120) < 1e-5 and abs(it["pair_over_trees"] - 1) < 1e-7 and len(it["shares"]) == 16' bound allreduce torus:4x4
  expect 0 'trees time +not solved: the programme has up to [0-9]+ columns' bound allreduce fattree:16
  expect_json 'it["root"] == 2 and abs(it["time_lower_bound"] * 6.25e9 - 1) < 1e-9' bound bcast ring:5 --root 2
  expect 0 'the least maximum flow to the root' bound reduce mesh:2x3
  expect_one_line 2 'root 9; expected a host of ring:5, 0..4' bound bcast ring:5 --root 9
  expect_one_line 2 'allreduce has none; expected a collective with a root' bound allreduce ring:5 --root 1
  expect_one_line 2 'topology two.json|host .* cannot' bound alltoall <(printf '{"colltopo-topology": 1, "name": "two", "hosts": 2, "switches": 0, "links": [{"tail": 0, "head": 1}]}')
  expect_one_line 2 "collective 'gossip' is unknown" bound gossip ring:4
  expect_one_line 2 "--gap: '-1'; expected" bound alltoall ring:4 --gap -1
  expect_one_line 2 'are for alltoall' bound allgather ring:4 --lengths l.csv
}

bound_files() {
  expect_json 'it["gap"] < 1e-8' bound alltoall kautz:32:4 --lengths lengths.csv --loads loads.csv
  expect 0 'valid +yes' bound alltoall kautz:32:4 --check-lengths lengths.csv
  expect_json 'abs(it["inverse_F_lower"] - 21.25) < 1e-6 and it["valid"]' bound alltoall kautz:32:4 --check-lengths lengths.csv
  python3 -c '
import csv
rows = list(csv.DictReader(open("loads.csv")))
assert len(rows) == 124, len(rows)
assert abs(max(float(row["load"]) for row in rows) - 21.25) < 1e-6
assert max(float(row["utilisation"]) for row in rows) == 1' || fail "loads.csv: $(head -3 loads.csv)"
  "$colltopo" bound alltoall kautz:32:4 --lengths - 2>/dev/null | cmp -s - lengths.csv || fail 'lengths on standard output differ'
  sed '1s/21\.2/21.3/' lengths.csv >boast.csv
  expect 1 'valid +no' bound alltoall kautz:32:4 --check-lengths boast.csv
  sed '5s/.*/2,0,1,-1/' lengths.csv >negative.csv
  expect_one_line 2 "negative.csv:5: '2,0,1,-1'; expected '2,0," bound alltoall kautz:32:4 --check-lengths negative.csv
  expect_one_line 2 'lengths.csv:1: .*lengths for torus:4x4' bound alltoall torus:4x4 --check-lengths lengths.csv
  # Half of one pair's bytes goes round each side of a ring; a schedule of single paths sends all of them one way.
  printf 'source,target,bytes\n0,2,2500\n' >traffic.csv
  expect_json 'abs(it["time_lower_bound"] / 1e-7 - 1) < 0.02 and it["gap"] <= 0.01' bound alltoallv ring:4/bandwidth:100Gbps --demand traffic.csv --lengths demand.csv
  expect 0 'valid +yes' bound alltoallv ring:4/bandwidth:100Gbps --demand traffic.csv --check-lengths demand.csv
  expect 0 '' generate dor ring:4 -o ring.sched
  expect_json 'abs(it["time"] / 2e-7 - 1) < 1e-6 and abs(it["ratio"] - 2) < 0.04' cost ring.sched ring:4/bandwidth:100Gbps --demand traffic.csv
  expect_json 'it["verified"] and it["gap_met"] and it["demand"] == 2500 and it["bound"] < 1250 * 1.0001' \
    generate mcf ring:4 --demand traffic.csv --lengths made.csv -o for-traffic.sched
  expect_json 'abs(it["ratio"] - 1) < 0.02' cost for-traffic.sched ring:4/bandwidth:100Gbps --demand traffic.csv
  expect 0 'valid' verify for-traffic.sched --on ring:4
  expect 0 'valid +yes' bound alltoallv ring:4 --demand traffic.csv --check-lengths made.csv
  expect_one_line 2 '--demand: dor makes one schedule for all traffic; expected mcf alone' generate dor ring:4 --demand traffic.csv
  expect_one_line 2 '--demand: a parametric file is for' generate mcf ring:4 --parametric --demand traffic.csv
  expect_one_line 2 '--demand: the schedule of --from was made for' generate mcf ring:4 --from ring.sched --demand traffic.csv
  expect_one_line 2 "traffic.csv:2: '2'; expected a host, 0 to 1" generate mcf complete:2 --demand traffic.csv
  expect_one_line 2 "traffic.csv:2: '2'; expected a host, 0 to 1" bound alltoallv complete:2 --demand traffic.csv
  expect_one_line 2 'alltoallv: .*expected --demand FILE' bound alltoallv ring:4
  expect_one_line 2 '--demand traffic.csv: alltoall has none' bound alltoall ring:4 --demand traffic.csv
  expect_one_line 2 'cost: expected --bytes LIST, or --demand FILE' cost ring.sched ring:4
  head -50 lengths.csv >short.csv
  expect_one_line 2 "short.csv:51: ''; expected" bound alltoall kautz:32:4 --check-lengths short.csv
}

generate() {
  expect 0 'verified +yes' generate tra ring:8 --radix 2 -o a.sched
  [ -s a.sched ] || fail 'a.sched was not written'
  expect 0 'file +none' generate tra ring:8
  expect_json 'it["verified"] and it["ranks"] == 8 and it["steps"] == 3 and it["messages"] == 24' generate tra ring:8 --radix 2
  expect_json 'it["achieved"] == 9 and abs(it["bound"] - 9) < 1e-9 and abs(it["gap"]) < 1e-9' generate linear torus:3x3x3
  expect_json 'it["achieved"] / it["bound"] - 1 == it["gap"] and it["gap"] > 0' generate ring ring:8 -c allgather
  expect_json 'it["seconds"] > 0 and it["peak_memory_bytes"] > 1e5' generate pairwise ring:4
  expect_json 'it["same_on_all_ranks"] and not it["keeps_rank_order"]' generate ring ring:4 -c allreduce
}

# Whatever the table has: made, proved, written, read and proved again.
# Every method for all-to-alls of paths: proved, in layers, as fast as it says, the same again.
routed() {
  for method in mcf-path fptas sssp ewsp dor; do
    expect 0 'verified +yes' generate $method torus:3x3 --chunks-max 24 -o $method.sched
    expect 0 'layers?$' verify $method.sched --on torus:3x3
    expect_json 'it["valid"] and it["properties"]["layers"] >= 1 and it["properties"]["routes"] >= 72' \
      verify $method.sched --on torus:3x3
    "$colltopo" generate $method torus:3x3 --chunks-max 24 -o again.sched >/dev/null
    cmp -s $method.sched again.sched || fail "$method is not repeatable"
  done
  expect_json 'abs(it["F"] - 1/3) < 1e-9 and it["gap"] < 1e-9 and it["chunk_loss"] < 1e-9 and it["layers"] == 1' \
    generate dor torus:3x3
  expect_json 'it["gap_met"] and it["gap"] <= it["gap_asked"] == 0.01' generate mcf kautz:16:4
  # Whole shards cannot be shared out as the flow is: the schedule is proved and written, the gap is said to be missed.
  expect_json 'not it["gap_met"] and it["gap"] > 0.05 and abs(it["missed"] + 1e-9 - it["gap"]) < 1e-12 and it["verified"]' \
    generate mcf kautz:16:4 --gap 1e-9 --chunks-max 1
  expect 1 '^missed +the gap asked for' generate mcf kautz:16:4 --gap 1e-9 --chunks-max 1
  expect_json 'it["gap"] <= 0.02 and it["chunks"] <= 24 and it["verified"] and it["routes"] >= 72 and it["bound"] > 2.9' \
    generate mcf-path torus:3x3 --chunks-max 24
  expect_json 'abs(it["results"][0]["ratio"] - 1) < 0.03' cost mcf-path.sched torus:3x3 --bytes 1G --set bandwidth_copy=100000GBps
  echo '{"collectives": {"alltoall": [{"rules": [{"alg": "file:ewsp.sched"}]}]}}' >rules.json
  expect 0 'chunks: 2 of 1 byte: some are empty' explain alltoall --ranks 9 --bytes 1 --rules rules.json
  expect_json 'it["results"][0]["chunks"] == 2' explain alltoall --ranks 9 --bytes 2 --rules rules.json
  for layers in lash lash-sequential df-sssp; do
    expect 0 "\($layers\), each free of cycles" generate ewsp torus:4x4 --layers $layers
  done
  expect 0 'none: for networks that drop packets' generate ewsp ring:8 --layers none -o none.sched
  expect 1 'a lossless network can deadlock' verify none.sched --on ring:8
  expect 0 'valid' verify none.sched --on ring:8 --lossy
  expect 0 'ranks +6' generate mcf-path switch:6
  expect_one_line 2 "--layers 'lush'; expected lash" generate sssp ring:4 --layers lush
  expect_one_line 2 "--paths 'bounded:x'; expected disjoint" generate mcf-path ring:4 --paths bounded:x
  expect_one_line 2 'sssp does not do allreduce; it does: alltoall' generate sssp ring:4 -c allreduce
  expect_one_line 2 'dor on complete:4: ' generate dor complete:4
  echo '{"colltopo-topology": 1, "name": "one", "hosts": ["a"], "switches": [], "links": []}' >one.json
  expect_one_line 2 '1 host; an all-to-all needs at least 2' generate sssp one.json
}

# Time steps: hosts forward, chunks wait in scratch.
stepped() {
  expect 0 'verified +yes' generate mcf-steps torus:3x3 -o steps.sched
  expect 0 'valid' verify steps.sched --on torus:3x3
  expect 0 'may run step by step: yes' verify steps.sched
  expect_json 'it["steps"] >= 2 and it["gap"] < 0.02 and abs(it["bound"] - 3) < 1e-6' generate mcf-steps torus:3x3
  expect_json 'abs(it["results"][0]["ratio"] - 1) < 0.03' cost steps.sched torus:3x3 --bytes 1G --set bandwidth_copy=100000GBps
  expect 0 'verified +yes' generate mcf-steps ring:6 --without link 0-1
  expect_one_line 2 'mcf-steps begins with no routes' generate mcf-steps torus:3x3 --from steps.sched
  expect_one_line 2 'mcf-steps does not do allgather' generate mcf-steps torus:3x3 -c allgather
}

forest() {
  for collective in allgather reduce_scatter allreduce bcast reduce; do
    expect 0 'verified +yes' generate forest dgx-a100:2 -c $collective -o forest.sched
    expect 0 'valid' verify forest.sched --on dgx-a100:2
  done
  expect_json 'it["k"] == 83 and abs(it["algbw_GBps"] - 354.1333) < 1e-3 and it["inverse_x"] == 30 / 332' bound allgather mi250:2
  expect_json 'it["k"] == 2 and abs(it["algbw_GBps"] - 341.3333) < 1e-3' generate forest mi250:2 --trees 2
  expect_json 'it["gap"] < 1e-9 and it["k"] == 13' generate forest mi250:2:8 -c reduce_scatter
  expect_json 'len(it["cut"]) == 24' bound reduce_scatter dgx-a100:4
  for network in torus:4x4 fattree:4 dgx-a100:2 mi250:2:8; do
    for collective in bcast reduce; do
      expect_json 'it["gap"] < 1e-9 and it["k"] < 128' generate forest $network -c $collective --root 3
    done
  done
  for network in mesh:4x4 torus:4x4/drop-links:2:1 mi250:1:8 mi250:2:8 bipartite:3:5; do
    expect_json 'it["gap"] < 0.02' generate forest $network -c allreduce -o forest.sched
    expect 0 'valid' verify forest.sched --on $network
  done
  expect 0 'method +exact: the least maximum flow from the root, and trees reach it' bound bcast dgx-a100:2
  local links='{"tail": 0, "head": 3, "bandwidth": 1e9}, {"tail": 3, "head": 1, "bandwidth": 1e9}, {"tail": 3, "head": 2, "bandwidth": 1e9}'
  links="$links, "'{"tail": 1, "head": 3, "bandwidth": 1e6}, {"tail": 2, "head": 3, "bandwidth": 1e6}, {"tail": 3, "head": 0, "bandwidth": 1e6}'
  echo '{"colltopo-topology": 1, "name": "greedy", "hosts": ["a", "b", "c"], "switches": ["w"], "links": ['"$links]}" >greedy.json
  expect 0 'method +bound: .*; switch w lets out more than it takes in, so trees may not reach it' bound bcast greedy.json
  expect 0 'method +bound: .*; switch w lets out more' bound allgather greedy.json
  expect 0 'method +exact' bound reduce greedy.json
  expect_json 'abs(it["algbw_GBps"] - 173.3333) < 1e-3' bound allreduce dgx-a100:2
  expect_json 'it["ranks"] == 16 and it["k"] < 10' generate forest mi250:2 --hosts 0-7,gpu1.0,17-23 --relay --trees few
  expect_json 'it["ranks"] == 3' generate forest complete:5 --hosts 0,2,4
  expect_one_line 2 "no host of ring:4" generate forest ring:4 --hosts 0,9
  expect_one_line 2 'nobody is left to relay' generate forest ring:4 --relay
  expect_one_line 2 "--trees 'many'" generate forest ring:4 --trees many
  expect_one_line 2 'forest does not do alltoall' generate forest ring:4 -c alltoall
}

# Several processes would write one file: the first does.
launched() {
  OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 expect 0 '^$' generate ewsp ring:6 -o launched.sched
  [ ! -e launched.sched ] || fail 'rank 1 has written a file'
  OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 expect 0 'started 2 times; rank 0 generates' \
    generate ewsp ring:6 -o launched.sched
  expect 0 valid verify launched.sched
  # Nobody else is there to share the work of mcf.
  OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 expect 0 'started 2 times; rank 0 generates, .*: libcolltopo_team' \
    generate mcf ring:6 -o launched.sched
  expect 0 valid verify launched.sched
}

# Something breaks: a schedule around it, also from the one before; what cannot be is said.
broken() {
  "$colltopo" generate mcf-path torus:4x4 -o whole.sched >/dev/null || fail 'cannot make whole.sched'
  for what in 'link 0-1' 'host 5' 'link 0-1 --without link 2-3 --without host 9'; do
    expect 0 'verified +yes' generate mcf-path torus:4x4 --without $what -o cold.sched
    expect 0 'verified +yes' generate mcf-path torus:4x4 --without $what --from whole.sched -o warm.sched
    expect 0 'net.json' topology torus:4x4 --without $what -o net.json
    expect 0 'valid' verify warm.sched --on net.json
  done
  expect 0 'verified' generate mcf-path torus:4x4/drop-links:0-1 --from whole.sched
  expect 0 'hosts +15' topology torus:4x4 --without host 5
  expect_one_line 2 'cut off: 1, 2$' generate sssp ring:6 --without link 0-1 --without link 2-3
  expect_one_line 2 "no link between 0 and 5" generate sssp torus:4x4 --without link 0-5
  expect_one_line 2 "no host '16'" generate sssp torus:4x4 --without host 16
  expect_one_line 2 '--without cable 0-1; expected link A-B or host A' generate sssp torus:4x4 --without cable 0-1
  expect_one_line 2 '--from whole.sched: made for topology' generate mcf-path torus:5x5 --from whole.sched
  expect 0 'verified' generate mcf-path torus:4x5 --from whole.sched --from-topology torus:4x4
  expect_one_line 2 '--from-topology torus:3x3: its fingerprint' \
    generate mcf-path torus:4x4 --from whole.sched --from-topology torus:3x3
  "$colltopo" generate tra ring:4 --radix 2 -o tra.sched >/dev/null
  expect_one_line 2 'it has no routes' generate mcf-path ring:4 --from tra.sched
}

every_algorithm() {
  local names made=0
  names=$("$colltopo" generate no-such-algorithm ring:4 2>&1 | sed 's/.*one of: *//')
  [ "$(wc -w <<<"$names")" -ge 8 ] || fail "only these algorithms: $names"
  for name in $names; do
    for collective in alltoall allgather reduce_scatter allreduce bcast reduce; do
      local output
      output=$("$colltopo" generate "$name" torus:2x4 -c $collective -o a.sched 2>&1)
      case $? in
        0)
          made=$((made + 1))
          expect 0 "a.sched: valid: .* is $collective on 8 ranks" verify a.sched --on torus:2x4
          ;;
        2) [ "$(wc -l <<<"$output")" -eq 1 ] || fail "$name $collective: $output" ;;
        *) fail "$name $collective: $output" ;;
      esac
    done
  done
  [ $made -ge 15 ] || fail "only $made schedules were made"
}

options() {
  expect 0 'radix=3' generate tra ring:9 --radix 3
  expect 0 'verified +yes' generate tra2 switch:8 --group 4 --intra-radix 2 --inter-radix 2
  expect_json '"4x2" in it["name"]' generate swing ring:8 -c allgather --dimensions 4x2
  single=$("$colltopo" generate swing torus:4x4 -c allgather --ports single --json)
  multi=$("$colltopo" generate swing torus:4x4 -c allgather --ports multi --json)
  [ "$(grep '"messages"' <<<"$single")" != "$(grep '"messages"' <<<"$multi")" ] || fail "ports make no difference: $single"
  expect 0 'is bcast on 5 ranks' verify <("$colltopo" generate binomial ring:5 -c bcast --root 3 -o - 2>/dev/null)
}

parametric() {
  "$colltopo" generate tra ring:8 --radix 3 --parametric -o short.sched >/dev/null || fail 'not made'
  tra8
  [ "$(wc -l <short.sched)" -lt 20 ] || fail "not short: $(cat short.sched)"
  expect 0 'valid: tra radix=3 is alltoall on 8 ranks' verify short.sched
  "$colltopo" convert short.sched -o long.sched >/dev/null
  cmp -s long.sched tra.sched || fail "expanded differs: $(diff long.sched tra.sched | head -5)"
}

verify_good() {
  tra8
  expect 0 'tra.sched: valid: tra radix=3 is alltoall on 8 ranks, free of deadlock' verify tra.sched
  expect 0 'on switch:8: all messages between neighbours' verify tra.sched --on switch:8
  expect_json 'it["valid"] and it["violations"] == [] and not it["properties"]["in_place"]' verify tra.sched
  expect_json 'it["properties"]["neighbours_only"] == False' verify tra.sched --on ring:8
}

# Edited by hand and sealed again: readable, but not the collective any more.
verify_wrong() {
  tra8
  sed '0,/recv 7 step 1 output:7+1/s//recv 7 step 1 output:6+1/' tra.sched >edited.sched
  expect_one_line 2 'edited.sched:[0-9]+: ' verify edited.sched
  "$colltopo" convert edited.sched --reseal -o wrong.sched >/dev/null || fail 'not resealed'
  expect 1 '^wrong.sched: rank 0: output:7 ends with nothing' verify wrong.sched
  expect 1 'wrong.sched: invalid: [0-9]+ violation' verify wrong.sched
  "$colltopo" verify wrong.sched --json >wrong.json
  [ $? -eq 1 ] || fail 'exit status with --json'
  expect_json 'not it["valid"] and len(it["violations"]) > 0 and "rank 0" in it["violations"][0]' verify wrong.sched
  expect 1 '8 ranks; ring:7 has 7 hosts' verify tra.sched --on ring:7
}

damaged_files() {
  tra8
  local lines
  lines=$(wc -l <tra.sched)
  for line in 1 2 4 6 7 9 10 12 40 88 90 "$lines"; do
    sed "${line}d" tra.sched >deleted.sched
    expect_one_line 2 'deleted.sched:[0-9]+: ' verify deleted.sched
    sed "${line}p" tra.sched >doubled.sched
    expect_one_line 2 'doubled.sched:[0-9]+: ' verify doubled.sched
    sed "${line}s/[0-9]/7&/" tra.sched >altered.sched
    expect_one_line 2 "altered.sched:$line: " verify altered.sched
  done
  head -c 1500 tra.sched >truncated.sched
  expect_one_line 2 'truncated.sched:[0-9]+: ' verify truncated.sched
  : >empty.sched
  expect_one_line 2 'empty.sched:1: ' verify empty.sched
}

cost() {
  "$colltopo" generate ring ring:4 -c allgather -o ring.sched >/dev/null
  # 3 steps of 2 us latency and 1 MB at 1 GB/s, and the own MB copied at 10 GB/s; at best 3 MB over two links.
  expect_json 'abs(it["results"][0]["seconds"] - 3 * (2e-6 + 1e-3) - 1e-4) < 1e-12' \
    cost ring.sched ring:4/bandwidth:1GBps/latency:2us --bytes 1000000
  expect_json 'abs(it["results"][0]["seconds"] - 3 * (4e-6 + 1e-3) - 2e-4) < 1e-12' \
    cost ring.sched ring:4/bandwidth:1GBps/latency:4us --bytes 1000000 --set bandwidth_copy=5GBps
  expect_json 'it["results"][0]["lower_bound_s"] > 0' \
    cost ring.sched ring:4/bandwidth:1GBps/latency:2us --bytes 1000000
  expect_json 'abs(it["results"][0]["lower_bound_s"] - 1.5e-3) < 1e-12 and it["steps"] == 3 and it["messages"] == 12' \
    cost ring.sched ring:4/bandwidth:1GBps/latency:2us --bytes 1000000
  expect_json 'set(it["results"][1]) >= {"bytes", "algorithm", "seconds", "goodput_GBps", "busiest_link_s", "lower_bound_s"}' \
    cost ring.sched ring:4 --bytes 1K,1M
  expect_json '[r["bytes"] for r in it["results"]] == [1024, 2097152, 7]' cost ring.sched ring:4 --bytes 1K,2M,7
  expect 0 '^ +3 +4 +1 +1 +0 -> 1 +1$' cost ring.sched ring:4 --bytes 1K --steps
  expect_one_line 2 '4 ranks on 5 hosts of ring:5' cost ring.sched ring:5 --bytes 1K
  expect_one_line 2 "bytes '1Q'; expected whole numbers with K, M or G" cost ring.sched ring:4 --bytes 1Q
  expect_one_line 2 "bytes '-1'" cost ring.sched ring:4 --bytes=-1
  expect_one_line 2 "overhead '1'; expected" cost ring.sched ring:4 --bytes 1 --overhead 1
}

draw_text() {
  tra8
  expect 0 '^ +0 +=1 +>1\(3\) <7\(3\) +>2\(2\) <6\(2\) +>3\(3\) <5\(3\) +>6\(2\) <2\(2\)$' draw tra.sched
  expect 0 '^rank +0 +send to 1 +input:1\+1 input:4\+1 input:7\+1$' draw tra.sched --step 1
  expect 0 '^0 - 1 - 2 - $' draw torus:3x3
  expect 0 '^ +s0 -> 0 1 2 3$' draw switch:4
  expect 0 '0 -> 1 +16 #+' draw tra.sched --on ring:8 --loads
  expect_one_line 2 'step 9; allowed are 0 \(before the first message\) to 4' draw tra.sched --step 9
  expect 0 '0 -> 1 +16 #+' draw tra.sched --loads
  "$colltopo" convert tra.sched --to msccl-xml -o tra.xml >/dev/null || fail 'no tra.xml'
  expect_one_line 2 '--loads of a schedule needs the network: add --on TOPO' draw tra.xml --loads
  expect_one_line 2 'a topology has no steps' draw ring:8 --step 1
}

# Well-formed XML with as many arrow heads as messages.
draw_svg() {
  tra8
  for arguments in "tra.sched" "tra.sched --step 2" "tra.sched --on torus:2x4 --loads" "torus:3x3x3" "torus:4x4 --loads" \
    "mesh:3x4" "hypercube:4" "switch:8" "bipartite:3:4" "ring:6" "complete:5"; do
    # shellcheck disable=SC2086
    expect 0 'svg' draw $arguments -o picture.svg
    python3 -c 'import xml.dom.minidom as m; m.parse("picture.svg")' || fail "$arguments: not XML"
  done
  "$colltopo" draw tra.sched -o picture.svg >/dev/null
  [ "$(grep -c '<polygon' picture.svg)" -eq 32 ] || fail 'not 32 arrows for 32 messages'
  "$colltopo" draw tra.sched --step 2 -o picture.svg >/dev/null
  [ "$(grep -c '<polygon' picture.svg)" -eq 8 ] || fail 'not 8 arrows for 8 messages of step 2'
  "$colltopo" draw ring:6 -o picture.svg >/dev/null
  [ "$(grep -c '<line' picture.svg)" -eq 6 ] || fail 'not 6 cables'
  expect_one_line 2 'links to draw; at most' draw complete:200 -o picture.svg
  draw_large
}

# Schedules and networks with more than can be told apart: loads instead, and a line says so.
draw_large() {
  "$colltopo" generate linear switch:100 -c alltoall -o large.sched >/dev/null
  expect_json 'it["kind"] == "loads" and "9900 messages" in it["note"]' draw large.sched -o picture.svg
  "$colltopo" generate mcf torus:9x9 -o routed.sched >/dev/null
  expect_json 'it["kind"] == "loads" and "their loads on torus:9x9" in it["note"]' draw routed.sched -o picture.svg
  [ "$(grep -c '<polygon' picture.svg)" -eq 324 ] || fail 'not an arrow for each link of torus:9x9'
  sed 's/torus:9x9/gone.json/' routed.sched >unsealed.sched
  "$colltopo" convert unsealed.sched --reseal -o moved.sched >/dev/null || fail 'not sealed again'
  expect_json 'it["kind"] == "traffic"' draw moved.sched -o picture.svg
  grep -q 'to rank' picture.svg || fail 'no square of ranks by ranks'
  expect 0 '' draw routed.sched --loads -o picture.svg
  expect 0 'kind +loads' draw torus:64x64 --loads -o picture.svg
  grep -q 'too many to draw one by one' picture.svg || fail 'no curve of 16384 links'
}

draw_loads_from() {
  "$colltopo" bound alltoall torus:3x3 --loads loads.csv >/dev/null
  expect 0 'load \(times the bytes of a call\)' draw torus:3x3 --loads-from loads.csv
  printf 'link,tail,head,bytes\n0,0,1,4000000\n1,1,0,1000000\n' >counted.csv
  expect 0 '0 -> 1 +4 #{40}$' draw ring:4 --loads-from counted.csv
  expect 0 '0 -> 1 +4 #{20}$' draw ring:4 --loads-from counted.csv --darkest 8e6
  expect 0 '' draw ring:4 --loads-from counted.csv --title 'before & after' -o picture.svg
  grep -q 'before &amp; after' picture.svg || fail 'no title'
  expect_one_line 2 'counted.csv:2: link 0 of torus:3x3 goes from' draw torus:3x3 --loads-from counted.csv
}

convert() {
  tra8
  expect 0 'resealed +no' convert tra.sched --to text -o same.sched
  cmp -s tra.sched same.sched || fail 'text to text changes the file'
  sed 's/ ~[0-9a-f]*$//' tra.sched >unsealed.sched
  expect 0 'resealed +yes' convert unsealed.sched --reseal -o sealed.sched
  cmp -s tra.sched sealed.sched || fail "resealing does not give the file back: $(diff tra.sched sealed.sched | head -5)"
  expect 2 'to: .*gif' convert tra.sched --to gif -o same.sched
}

msccl() {
  local samples=$COLLTOPO_SAMPLES/msccl
  "$colltopo" generate forest dgx-a100:1 -c allreduce -o forest.sched >/dev/null || fail 'cannot make forest.sched'
  expect 0 'thread blocks +15 on a GPU at most' convert forest.sched --to msccl-xml -o forest.xml
  expect_json 'it["thread_blocks"] == 15 and it["thread_block_steps"] == 3 and it["channels"] == 1 and "too_large_for" not in it' \
    convert forest.sched --to msccl-xml -o forest.xml
  # Every command that takes a schedule takes the XML.
  expect 0 'forest.xml: valid: forest is allreduce on 8 ranks' verify forest.xml --on dgx-a100:1
  expect 0 'valid' verify forest.xml --format msccl-xml
  expect 0 'standard input: valid' verify - <forest.xml
  expect_json "it['messages'] == $("$colltopo" cost forest.sched dgx-a100:1 --bytes 1M --json | sed -n 's/.*"messages": \([0-9]*\).*/\1/p' | head -1)" \
    cost forest.xml dgx-a100:1 --bytes 1M
  expect 0 'step 1' draw forest.xml
  expect 0 'collective +allreduce' convert forest.xml --to text -o again.sched
  expect 0 'valid' verify again.sched
  # Other tools' algorithms.
  for sample in "$samples"/*.xml; do
    expect 0 ': valid: ' verify "$sample"
  done
  expect 1 'wrong-result.xml: .*invalid' verify "$samples/broken/wrong-result.xml"
  expect_one_line 2 'type.xml:7: type=.swap.' verify "$samples/broken/type.xml"
  expect_one_line 2 'cut.xml:45: ' convert "$samples/broken/cut.xml" --to text
  expect_one_line 2 'forest.xml:1: .*colltopo convert --to text makes that of' verify forest.xml --format text
  expect_one_line 2 'forest.sched:[0-9]+: ' verify forest.sched --format msccl-xml
  # What the runtime is told.
  for words in '--no-outofplace:inplace="1" outofplace="0"' '--proto LL128:proto="LL128"' '--min-bytes 8 --max-bytes 64:minBytes="8" maxBytes="64"'; do
    # shellcheck disable=SC2086
    "$colltopo" convert forest.sched --to msccl-xml ${words%%:*} | head -1 | grep -q "${words#*:}" || fail "${words%%:*}"
  done
  expect 2 'proto' convert forest.sched --to msccl-xml --proto fast
  "$colltopo" generate ring ring:4 -c reduce_scatter -o ring.sched >/dev/null
  "$colltopo" convert ring.sched --to msccl-xml --rccl | grep -q 'coll="reducescatter"' || fail '--rccl'
  expect_one_line 2 'only the text format has seals' convert ring.sched --to msccl-xml --reseal
  "$colltopo" generate linear ring:120 -o large.sched >/dev/null
  expect 0 'too large for +MSCCL as it is public' convert large.sched --to msccl-xml -o large.xml
}

binary() {
  "$colltopo" generate mcf kautz:16:3 -o text.sched >/dev/null
  expect 0 'verified +yes' generate mcf kautz:16:3 --binary -o binary.sched
  (($(stat -c %s binary.sched) * 5 < $(stat -c %s text.sched))) || fail 'the binary file is large'
  expect 0 'valid: mcf is alltoall on 16 ranks' verify binary.sched --on kautz:16:3
  expect 0 'format +text' convert binary.sched --to text -o again.sched
  cmp text.sched again.sched || fail 'text, binary and text again differ'
  expect 0 'format +binary' convert text.sched --to binary -o again.sched
  cmp binary.sched again.sched || fail 'made and converted binary files differ'
  for on in text binary; do
    "$colltopo" routes $on.sched --host 3 >$on.routes
    "$colltopo" cost $on.sched kautz:16:3 --bytes 1M >$on.cost
  done
  cmp text.routes binary.routes || fail 'routes of a host differ'
  cmp text.cost binary.cost || fail 'costs differ'
  expect 0 'valid' verify - <binary.sched
  expect_json 'it["valid"] and it["properties"]["routes"] >= 240' verify binary.sched --on kautz:16:3
  expect 1 'its routes are those of topology' verify binary.sched --on ring:16
  head -c 700 binary.sched >cut.sched
  expect_one_line 2 'cut.sched: byte 700: the file ends without its trailer, expected 32 bytes' verify cut.sched
  expect_one_line 2 'cut.sched: byte 700: ' cost cut.sched kautz:16:3 --bytes 1K
  expect_one_line 2 'a parametric file has no sections' generate tra ring:8 --parametric --binary -o x.sched
}

oneccl() {
  tra8
  expect 0 'format +oneccl-xml' convert tra.sched --to oneccl-xml -o tra.xml
  python3 - tra.xml <<'PYTHON' || fail 'tra.xml is not an all-to-all'
import sys, xml.etree.ElementTree as tree
algo = tree.parse(sys.argv[1]).getroot()
ranks, chunks = int(algo.get("nranks")), int(algo.get("nchunks"))
memory = [{("i", j): (r, j) for j in range(chunks)} for r in range(ranks)]
programs = [list(rank) for rank in algo]
at, sent = [0] * ranks, {}
moved = True
while moved:  # in order, sends being buffered
    moved = False
    for r in range(ranks):
        while at[r] < len(programs[r]):
            step = programs[r][at[r]]
            name = lambda prefix: [(step.get(prefix + "buf"), int(step.get(prefix + "off")) + k) for k in range(int(step.get("cnt")))]
            if step.tag == "send":
                sent.setdefault((r, int(step.get("peer"))), []).append([memory[r][c] for c in name("")])
            elif step.tag == "recv":
                queue = sent.get((int(step.get("peer")), r), [])
                if not queue:
                    break
                memory[r].update(zip(name(""), queue.pop(0)))
            elif step.tag == "copy":
                memory[r].update({target: memory[r][source] for source, target in zip(name("src"), name("dst"))})
            at[r] += 1
            moved = True
sys.exit(0 if all(memory[r].get(("o", j)) == (j, r) for r in range(ranks) for j in range(chunks)) else 1)
PYTHON
  expect_one_line 2 'is not valid and cannot be written' convert "$COLLTOPO_SAMPLES/msccl/broken/wrong-result.xml" --to oneccl-xml
}

explain() {
  expect 0 '^alltoall of 8 bytes on 64 ranks' explain alltoall --ranks 64 --bytes 8
  expect 0 '^\* +[0-9.]+ [mun]?s ' explain alltoall --ranks 64 --ranks-per-node 8 --bytes 8
  # Neighbours in a ring share a node, or none of them do.
  local ring=(explain allgather --ranks 16 --ranks-per-node 4 --bytes 64K --set allgather_algorithm=ring)
  expect_json 'it["results"][0]["map_by"] == "slot"' "${ring[@]}"
  mv answer.json by-slot.json
  expect_json 'it["results"][0]["seconds"] > 1.5 * json.load(open("by-slot.json"))["results"][0]["seconds"]' "${ring[@]}" --map-by node
  expect_one_line 2 '--map-by' explain allgather --ranks 16 --bytes 8 --map-by socket
  expect_json 'it["results"][0]["algorithm"] == next(c["name"] for c in it["results"][0]["candidates"] if c["excluded"] == "") or it["results"][0]["algorithm"] == "fallback"' \
    explain allreduce --ranks 16 --bytes 1K --on torus:4x4
  expect_json '[r["bytes"] for r in it["results"]] == [8, 1048576] and all(c["seconds"] > 0 for r in it["results"] for c in r["candidates"] if c["excluded"] == "")' \
    explain allgather --ranks 16 --bytes 8,1M
  expect_json 'any("order" in c["excluded"] for c in it["results"][0]["candidates"])' \
    explain allreduce --ranks 16 --bytes 1M --not-commutative
  slow=$("$colltopo" explain alltoall --ranks 8 --bytes 8 --set latency_network=1ms --json | grep -m1 '"seconds"')
  fast=$("$colltopo" explain alltoall --ranks 8 --bytes 8 --json | grep -m1 '"seconds"')
  [ "$slow" != "$fast" ] || fail '--set latency_network makes no difference'
  expect_one_line 2 "collective 'alltoallx' is unknown; expected one of: alltoall" explain alltoallx --ranks 8 --bytes 8
  expect_one_line 2 'ranks 0; expected 1..' explain alltoall --ranks 0 --bytes 8
  expect_one_line 2 'torus:4x4 has 16 hosts; 8 ranks with 1 per node need 8' explain alltoall --ranks 8 --bytes 8 --on torus:4x4
  expect_one_line 2 "there is no setting 'speed'" explain alltoall --ranks 8 --bytes 8 --set speed=9
}

# Standard output is one JSON object, whatever happens.
json() {
  tra8
  expect_json 'it["kind"] == "schedule" and "step 1" in it["text"]' draw tra.sched
  expect_json 'it["file"] == "b.sched"' convert tra.sched -o b.sched
  expect_json '"no-such-algorithm" in it["error"]' generate no-such-algorithm ring:4
  expect_json '"standard output cannot take both" in it["error"]' generate tra ring:4 -o -
  expect_json '"error" in it' verify no-such-file
}

simulate() {
  expect_json 'it["hosts"] == 4096 and it["programs_read"] <= 16 and it["programs_read"] * it["ranks_alike"] == 4096' \
    simulate swing:multiport=1 torus:64x64 -c allreduce --bytes 2M
  "$colltopo" generate swing torus:4x4 -c allreduce -o swing.sched >/dev/null
  # 8 steps; links carry as much as the whole schedule says; a file and a closed form are the same.
  expect_json 'it["steps"] == 8 and it["programs_read"] == 16' simulate swing.sched torus:4x4 --bytes 1M --no-symmetry
  for subject in swing.sched swing; do
    expect_json 'abs(it["busiest_link_load"] - 0.46875) < 1e-9 and it["messages"] == 512 and len(it["steps_detail"]) == 8' \
      simulate $subject torus:4x4 -c allreduce --bytes 1M --steps
  done
  expect_json 'abs(it["results"][0]["fair_s"] / it["results"][0]["seconds"] - 1) < 1e-6' simulate swing.sched torus:4x4 --bytes 1M --fair
  "$colltopo" generate mcf kautz:12:2 -o routed.sched >/dev/null
  expect 0 'fair shares' simulate routed.sched kautz:12:2 --fair
  expect 0 '^ +1 +' simulate routed.sched kautz:12:2 --steps
  expect_one_line 2 'swung: no such file, and no closed form has this name' simulate swung torus:4x4
  expect_one_line 2 "has option 'radix=3'; must be" simulate swing:radix=3 torus:4x4
  expect_one_line 2 '65536 hosts; expected at most 16384' simulate swing torus:256x256
  expect_one_line 2 '4096 hosts; expected at most 1024 with --fair' simulate swing torus:64x64 --fair
  expect_one_line 2 '16 ranks on 5 hosts of ring:5' simulate swing.sched ring:5
  expect_one_line 2 '--root 1; expected none: allreduce has no root' simulate swing torus:4x4 -c allreduce --root 1
}

rules() {
  echo '{"results": [{"collective": "allreduce", "algorithm": "ring", "bytes": 8, "ranks": 4, "median_us": 3}]}' >measured.json
  for form in tuned tuned-json; do
    "$colltopo" rules measured.json --for $form -o rules.$form >/dev/null 2>&1
  done
  expect_json 'it["for"] == "tuned" and it["rules"][0] == {"collective": "allreduce", "ranks_min": 4, "ranks_max": None, "bytes_min": 0, "bytes_max": None, "algorithm": "ring"}' \
    rules rules.tuned
  expect_json 'it["for"] == "tuned-json" and len(it["rules"]) == 1' rules rules.tuned-json
  "$colltopo" explain allreduce --ranks 8 --bytes 8,1M --json >explained.json
  expect_json 'it["measurements"] > 4 and it["rules"][-1]["algorithm"] in ("ring", "rabenseifner")' rules explained.json --for tuned -o explained.conf
  expect_one_line 2 'expected what colltopo-bench --json' rules rules.tuned --for tuned
  expect_one_line 2 '1 measurements, none of an algorithm that ucc has' rules measured.json --for ucc
  expect_one_line 2 '2 inputs without --for' rules rules.tuned rules.tuned
}

repeatable() {
  for run in 1 2; do
    "$colltopo" generate swing torus:4x4 -c allreduce -o $run.sched >/dev/null
    "$colltopo" draw $run.sched -o $run.svg >/dev/null
    "$colltopo" cost $run.sched torus:4x4 --bytes 1K,1M --json >$run.json
  done
  for kind in sched svg json; do cmp 1.$kind 2.$kind || fail "$kind differs"; done
}

usage() {
  expect 2 'subcommand is required' ''
  expect 2 '' no-such-command
  expect 2 'ALGORITHM is required' generate
  expect 2 'TOPO is required' generate tra
  expect 2 'expected --bytes LIST, or --demand FILE' cost a ring:4
  expect 2 'not expected|extras' verify a --no-such-option
}

bad_specs() {
  expect_one_line 2 "tours:3x3: unknown topology family 'tours'; expected one of: ring mesh torus" topology tours:3x3
  expect_one_line 2 "torus:3x0: side '0'; expected a whole number in 1..1048576" generate tra torus:3x0
  expect_one_line 2 "ring:8/bandwidth:fast: bandwidth 'fast'; expected a number above 0" topology ring:8/bandwidth:fast
  expect_one_line 2 "unknown modifier 'color'; expected one of: bandwidth latency routes ranks" topology ring:8/color:red
  expect_one_line 2 'net.json: no such file; expected a topology file or a spec' topology net.json
  echo '{"colltopo-topology": 1, "hosts": 2, "links": [{"tail": 0, "head": 2}]}' >net.json
  expect_one_line 2 'net.json:[0-9]+: .*link 0 -> 2 leaves the topology; nodes are 0..1' topology net.json
  echo '{"hosts": 2,' >net.json
  expect_one_line 2 'net.json:2: syntax error' topology net.json
}

bad_parameters() {
  expect_one_line 2 "algorithm 'brucks' is unknown; expected one of: .*tra" generate brucks ring:8
  expect_one_line 2 'radix 1.*2' generate tra ring:8 --radix 1
  expect 0 'radix=8' generate tra ring:8 --radix 9
  expect 0 'groups=3 up-to=3' generate tra2 ring:8 --group 3
  expect_one_line 2 "collective 'gathers' is unknown; expected one of: alltoall allgather" generate ring ring:8 -c gathers
  expect_one_line 2 'tra does not do allreduce; it does: alltoall' generate tra ring:8 -c allreduce
  expect_one_line 2 'root 8; expected a rank in 0..7' generate binomial ring:8 -c bcast --root 8
  expect_one_line 2 'root 1; expected none: alltoall has no root' generate tra ring:8 --root 1
  expect_one_line 2 'dimensions 3x3 are a torus of 9 ranks; ring:8 has 8 hosts' generate swing ring:8 --dimensions 3x3
  expect 2 'radix' generate tra ring:8 --radix two
}

# Input that was taken once, or taken for something else.
forgiven() {
  expect_one_line 2 "gap: 'nan'; expected a number of 0 or more" generate mcf ring:4 --gap nan
  expect_one_line 2 "gap: 'nan'; expected a number of 0 or more" bound alltoall ring:4 --gap nan
  expect_one_line 2 "seconds: '-1'; expected a number of 0 or more" generate mcf ring:4 --seconds -1
  expect_one_line 2 "threads: '200000'; expected a number from 0 to 4096" bound alltoall ring:4 --threads 200000
  expect_one_line 2 "chunks-max: '1000000000'; expected a number from 1 to 100000" generate mcf ring:4 --chunks-max 1000000000
  expect_one_line 2 "epsilon: '0.5'; expected a number from 1e-06 to 0.333" generate fptas ring:4 --epsilon 0.5
  # A gap that is missed is a result that is not what was asked for, by both commands.
  expect 1 'missed +the gap asked for' generate mcf kautz:20:3 --gap 1e-4 --chunks-max 1
  expect 0 'gap +0.00%' generate mcf ring:4
  # Seconds that are used up are no lack of a limit.
  timeout 30 "$colltopo" generate ilp kautz:100:4 --seconds 0.001 >/dev/null || fail "ilp --seconds 0.001 is not over after 30 s"
  # Names that are not UTF-8.
  expect 2 "unknown topology family" topology $'x\xff:3' --json
  printf 'h\xe9te b\nb h\xe9te\n' >latin.edges
  expect_json 'it["hosts"] == 2' topology latin.edges
  expect_json 'len(it["cut"]) == 1' bound allgather latin.edges
  expect_one_line 2 'a name is not UTF-8; JSON cannot hold it' convert latin.edges --to topo-json
  "$colltopo" generate mcf latin.edges -o latin.sched >/dev/null || fail 'no schedule for names that are not UTF-8'
  expect 0 '"host": "b"' routes latin.sched --host b
  expect_one_line 2 'latin.edges: a name is not UTF-8; JSON cannot hold it' routes latin.sched --for json
  expect_json '"--children" and it["verified"]' generate mcf-master kautz:8:3 --children lp
  expect 2 'children' generate mcf-master kautz:8:3 --children none
}

bad_files() {
  expect_one_line 2 'no-such-file: cannot be read: No such file' verify no-such-file
  expect_one_line 2 'cannot be read: it is a directory' verify .
  echo 'hello' >hello
  expect_one_line 2 'hello:1: ' verify hello
  head -c 4096 /dev/urandom >noise
  expect_one_line 2 'noise:1: ' verify noise
}

unwritable() {
  expect_one_line 2 'no/such/folder/a.sched: cannot be written: No such file or directory' generate tra ring:4 -o no/such/folder/a.sched
  mkdir taken
  expect_one_line 2 'taken: cannot be written: Is a directory' generate tra ring:4 -o taken
  expect_one_line 2 '/dev/full: cannot be written: No space left' topology ring:4 -o /dev/full
  expect_one_line 2 'taken: cannot be written' draw ring:4 -o taken
}

# Names are data: in scripts, pages and terminals.
names() {
  local evil='x\ntouch OWNED\n#'
  for name in "$evil" '\u001b]0;title\u0007' '\u009b2J'; do
    printf '{"colltopo-topology": 1, "name": "%s", "hosts": 2, "links": [{"tail": 0, "head": 1}, {"tail": 1, "head": 0}]}' "$name" >evil.json
    expect_one_line 2 'the name of a topology has a control character' topology evil.json
    printf '{"colltopo-topology": 1, "hosts": ["a", "%s"], "links": [{"tail": 0, "head": 1}, {"tail": 1, "head": 0}]}' "$name" >evil.json
    expect_one_line 2 'the name of a node has a control character' topology evil.json
  done
  "$colltopo" generate mcf ring:4 -o ring.sched >/dev/null || fail 'no schedule'
  for device in $'l\n$(id)' 'l;id' 'l id' '' '-l' "l'" 'longer-than-15-letters'; do
    expect_one_line 2 'device .*; expected up to 15 letters' routes ring.sched --device "$device"
  done
  expect 0 'dev eth7 ' routes ring.sched --device eth
  printf '{"colltopo-topology": 1, "name": "$(touch OWNED)`touch OWNED`<script>&\\"", "hosts": ["$(touch OWNED)", "b;touch OWNED", "c\u0027d", "<e>"],
    "links": [{"tail": 0, "head": 1}, {"tail": 1, "head": 0}, {"tail": 1, "head": 2}, {"tail": 2, "head": 1}, {"tail": 2, "head": 3}, {"tail": 3, "head": 2}]}' >odd.json
  "$colltopo" generate mcf odd.json -o odd.sched >/dev/null || fail 'no schedule of odd names'
  "$colltopo" routes odd.sched --on odd.json -o routes.sh >/dev/null || fail 'no routes of odd names'
  sh routes.sh nobody 2>/dev/null
  ip() { :; }
  export -f ip
  bash routes.sh 'b;touch OWNED' 2>/dev/null
  [ ! -e OWNED ] || fail 'a name became a command'
  "$colltopo" draw odd.json -o - | grep -q '<script>' && fail 'a name became a script of a picture'
  # What a message quotes has no control characters and is short.
  printf 'SwitchName=s Nodes=%s\n' "$(printf '\033[31m%0.sx' $(seq 2000))" >escape.conf
  "$colltopo" topology escape.conf 2>&1 | grep -q "$(printf '\033')" && fail 'ESC in a message'
  [ "$("$colltopo" topology escape.conf 2>&1 | wc -c)" -lt 600 ] || fail 'a long message'
  "$colltopo" topology "$(printf 'no\033[31m.json')" 2>&1 | grep -q "$(printf '\033')" && fail 'ESC of an argument in a message'
  return 0
}

# What has no end, and what waits for ever.
endless() {
  expect_one_line 2 '/dev/zero: cannot be read: it is a device; expected a file' verify /dev/zero
  for command in topology 'generate mcf' draw; do
    # shellcheck disable=SC2086
    expect_one_line 2 '/dev/zero: cannot be read: it is a device; expected a file' $command /dev/zero
  done
  (ulimit -v 4000000; head -c 2000000000 /dev/zero | timeout 20 "$colltopo" verify - 2>&1) | grep -q 'it has more than 1073741824 bytes' ||
    fail 'a pipe without an end'
  expect 0 'hosts +5' topology <("$colltopo" topology ring:5 -o -)
  local cut
  "$colltopo" generate tra ring:4 -o cut.sched >/dev/null
  cut=$(($(wc -c <cut.sched) - 30))
  head -c "$cut" cut.sched >short.sched
  "$colltopo" explain alltoall --ranks 4 --bytes 8 --set alltoall_algorithm=file:short.sched 2>&1 | grep -q ':0:' && fail 'line 0'
  return 0
}

pipes() {
  "$colltopo" generate ring ring:5 -c allgather -o - 2>report | "$colltopo" verify - >verdict || fail 'a piped schedule is not valid'
  grep -q 'standard input: valid: ring' verdict || fail "$(cat verdict)"
  grep -q 'verified' report || fail 'the report is not on standard error'
  "$colltopo" topology ring:5 -o - | "$colltopo" topology - | grep -q 'hosts  *5' || fail 'a piped topology is not read'
  "$colltopo" draw ring:5 -o - | head -1 | grep -q '<svg' || fail 'no SVG on standard output'
  "$colltopo" generate tra ring:5 -o - 2>/dev/null | "$colltopo" draw - | grep -q 'step 1' || fail 'a piped schedule is not drawn'
}

routes() {
  "$colltopo" generate mcf torus:3x3/drop-links:2:1 -o mcf.sched >/dev/null
  expect 0 'rules +0: every route has room' routes mcf.sched -o mcf.sh
  sh -n mcf.sh || fail "not a shell script"
  sh mcf.sh nobody 2>errors && fail "a stranger got routes"
  grep -q "no node 'nobody' in this file" errors || fail "a stranger is not told so: $(cat errors)"
  expect_json 'it["planes"] >= 2 and it["rules"] == 0 and it["entries"] == it["planes"] * 72 and it["verified"]' \
    routes mcf.sched --for json -o mcf.json
  expect 0 'send every lane along its route' verify mcf.sched --routes mcf.json
  sed 's/"target": 1, "link": [0-9]*/"target": 1, "link": 0/' mcf.json >wrong.json
  expect 1 'wrong.json: (lane|plane) ' verify mcf.sched --routes wrong.json
  head -c 300 mcf.json >cut.json
  expect_one_line 2 'cut.json:' verify mcf.sched --routes cut.json
  "$colltopo" topology torus:3x3 -o own.json >/dev/null
  "$colltopo" generate mcf own.json -o own.sched >/dev/null
  expect 0 'planes' routes own.sched --on own.json -o own.sh
  expect_one_line 2 'its routes are those of topology' routes own.sched --on ring:9
  "$colltopo" generate mcf torus:3x3 --without host 4 --without link 0-1 -o broken.sched >/dev/null
  expect 0 'topology  torus:3x3/drop-hosts:=4/drop-links:0-1' routes broken.sched -o broken.sh
  "$colltopo" generate linear switch:4 -o linear.sched >/dev/null
  # Routes that no message takes are in the tables as others are.
  expect_json 'it["routes"] > 72 and it["verified"]' generate mcf torus:3x3 --spare-routes -o spare.sched
  expect 0 'rules' routes spare.sched --for json -o spare.json
  expect 0 'send every lane along its route' verify spare.sched --routes spare.json
  expect 0 '' cost spare.sched torus:3x3 --bytes 64K
  expect_one_line 2 'tra has no spare ones' generate tra torus:3x3 --spare-routes
  expect_one_line 2 'a parametric file lists the routes of one rank' generate mcf torus:3x3 --spare-routes --parametric
  expect_one_line 2 'it has no routes' routes linear.sched
  expect_one_line 2 "network '10'; expected the first two octets" routes mcf.sched --network 10
  "$colltopo" routes mcf.sched >again.sh && cmp -s mcf.sh again.sh || fail "routes are not repeatable"
}

symmetric() {
  expect_json 'it["verified"] and it["orbits"] == 1 and it["gap_met"] and not it["layers_acyclic"]' \
    generate mcf torus:4x4 --parametric -o torus.sched
  expect 0 'layers +1, not free of cycles: for networks that drop packets' generate mcf torus:4x4 --parametric
  expect 0 'layers +[0-9]+, each free of cycles' generate mcf hyperx:4x4 --parametric -o hyperx.sched
  expect 0 'valid: mcf is alltoall on 16 ranks, free of deadlock; proved for 1 orbit of 16 ranks' verify torus.sched
  expect 0 'moved by 16 automorphisms' verify hyperx.sched --on hyperx:4x4
  expect 1 'a lossless network can deadlock' verify torus.sched --on torus:4x4
  expect_json 'it["valid"] and it["properties"]["busiest_link_load"] == 8' verify torus.sched --on torus:4x4 --lossy
  expect 1 'its routes are those of topology' verify torus.sched --on mesh:4x4 --lossy
  # Written out whole it is the schedule that the ordinary proof proves, at the same cost.
  expect 0 '' convert torus.sched --to text -o whole.sched
  expect 0 'routes: 240 in 1 layer' verify whole.sched --on torus:4x4 --lossy
  "$colltopo" cost torus.sched torus:4x4 --bytes 1K,1M >symmetric.cost
  "$colltopo" cost whole.sched torus:4x4 --bytes 1K,1M | cmp -s - symmetric.cost || fail "costs differ"
  "$colltopo" draw torus.sched --on torus:4x4 >symmetric.txt
  "$colltopo" draw whole.sched --on torus:4x4 | cmp -s - symmetric.txt || fail "loads differ"
  "$colltopo" routes torus.sched --host 5 >five.json
  "$colltopo" routes whole.sched --host 5 | cmp -s - five.json || fail "routes of host 5 differ"
  expect 0 '"target": "15"' routes torus.sched --host 5
  expect_one_line 2 'torus:4x4 has no host of this name' routes torus.sched --host 16
  expect 0 'verified +every lane follows its route' routes torus.sched -o torus.sh
  # More ranks than are written out whole.
  expect 0 'ranks +13824' generate mcf torus:24x24x24 --parametric -o large.sched
  expect 0 '191089152 routes' verify large.sched --on torus:24x24x24 --lossy
  expect_json 'it["messages"] == 191089152 and it["results"][0]["ratio"] < 1.01' cost large.sched torus:24x24x24 --bytes 1G
  expect_one_line 2 '13824 ranks of a symmetric schedule; at most 2048 are written out whole' convert large.sched --to text
  expect_one_line 2 'expected --segments 1' cost large.sched torus:24x24x24 --bytes 1K --segments 4
  expect_one_line 2 'no symmetry that moves every host was found' generate mcf jellyfish:16:4 --parametric
  expect_one_line 2 'expected mcf or an algorithm in closed form' generate sssp torus:4x4 --parametric
  sed 's/^turn 4 order 4/turn 1 order 4/' torus.sched >bent.sched
  expect_one_line 2 'bent.sched:1[0-9]: seal' verify bent.sched
  expect_one_line 2 'bent.sched:1[0-9]: .*is reached from the representatives twice' convert bent.sched --to text --reseal -o resealed.sched
}

rings() {
  expect 0 'maximum path length +2 hops' generate lr2 mesh:4/ranks:2
  for collective in allgather reduce_scatter allreduce; do
    for tree in bfs dfs random; do
      expect 0 'contention free +yes' generate lr3 fattree:4 -c $collective --tree $tree --seed 3 -o lr3.sched
      expect 0 'valid: lr3' verify lr3.sched --on fattree:4
    done
  done
  expect_json 'it["contention_free"] and it["maximum_path_length"] == 2 and sorted(it["ring"]) == list(range(12))' \
    generate lr3 ring:6/ranks:2 --tree dfs
  expect_json 'it["ring"] == [0, 1, 2, 3] and it["maximum_path_length"] == 1' generate lr1 switch:4
  expect 0 'more than 2048 ranks' generate lr1 switch:10000
  expect_one_line 2 'written for at most 2048, no file was made' generate lr1 switch:10000 -o large.sched
  expect_one_line 2 'on the tree, switch aggregation0.0 has 0 machines and [0-9]+ switches beside it' generate lr2 fattree:4
  expect_one_line 2 "--tree 'oak'; expected bfs, dfs or random" generate lr1 ring:4 --tree oak
  expect_one_line 2 'lr1 does not do alltoall; it does: allgather' generate lr1 ring:4 -c alltoall
  expect_one_line 2 'a spanning tree needs links in both directions' generate lr1 kautz:8:2
}

declare -F "$2" >/dev/null || { echo "no case $2"; exit 1; }
"$2"
[ $failures -eq 0 ] || exit 1
