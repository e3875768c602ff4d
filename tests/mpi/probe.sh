#!/bin/sh
# probe.sh BUILD: colltopo-probe measures, and jobs on the same hosts find what it wrote by themselves.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"
export XDG_CACHE_HOME=$scratch/cache
file=$XDG_CACHE_HOME/colltopo/constants.json

output=$(timeout 90 mpirun -np 4 "$build/bin/colltopo-probe" --seconds 30 --json 2>&1) || fail "the probe: $output"
printf '%s' "$output" | python3 -c '
import json, sys
found = json.load(sys.stdin)
for name in "latency_node", "message_overhead", "bandwidth_node", "bandwidth_copy", "bandwidth_reduce":
    assert found["constants"][name] > 0, name
assert 1e-8 < found["constants"]["latency_node"] < 1, found
assert 1e6 < found["constants"]["bandwidth_copy"] < 1e13, found
assert "latency_network" not in found["constants"], "one host has no network"
assert found["ranks_per_host"] == 4 and len(found["hosts"]) == 1, found
assert {row["collective"] for row in found["times"]} >= {"alltoall", "allgather", "allreduce", "bcast"}, found["times"]
others = [row for row in found["times"] if row["algorithm"] == "fallback"]
assert len(others) == 8 and all(row["component"] in ("tuned", "basic") for row in others), others
for row in found["times"]:
    rooted = row["collective"] in ("bcast", "reduce", "gather", "scatter")  # of which the shortest cannot be told from a meeting
    every = not rooted and row["algorithm"] == "fallback"  # others only where they may win
    long = row["collective"] in ("allreduce", "bcast", "reduce")  # vectors: to 1 MiB
    sizes = 16 + 2 * long  # powers of two: of what calls are left to, and of ours where they may have a step
    least = sizes - long if every else 1  # 512 KiB comes last: a slow machine may have no time left for it
    assert least <= len(row["seconds"]) <= sizes and all(0 < seconds < 10 for seconds in row["seconds"].values()), row
    assert set(row["errors"]) <= set(row["seconds"]) and all(0 <= error < 10 for error in row["errors"].values()), row
assert sum(len(row["errors"]) for row in found["times"]) > sum(len(row["seconds"]) for row in found["times"]) / 4, "times of few rows, though there is time: %s" % found["times"]
between = [size for row in found["times"] if row["algorithm"] != "fallback" for size in row["seconds"] if size in ("16", "64", "256", "1024", "2048", "8192", "32768", "131072")]
assert len(between) > 20 and {"256", "1024", "2048"} <= set(between), "ours are not measured between the common sizes, though there is time: %s" % found["times"]
of = lambda collective: {row["algorithm"] for row in found["times"] if row["collective"] == collective}
assert sum("1048576" in row["seconds"] for row in found["times"]) > 3, "no calls of 1 MiB, though there is time"
vectors = [(row["seconds"]["262144"], "1048576" in row["seconds"]) for name in ("allreduce", "bcast", "reduce") for row in found["times"] if row["collective"] == name and "262144" in row["seconds"]]
assert min(vectors)[1], "the fastest of 256 KiB is not measured at 1 MiB: %s" % found["times"]
assert any(":" in name for name in of("alltoall") | of("allreduce") | of("bcast")), "no variant, though there is time: %s" % found["times"]
assert len(of("allreduce")) > 5, "no more than the four likeliest and the fallback, though there is time: %s" % of("allreduce")
' || fail "not what is expected of one host: $output"
[ -s "$file" ] || fail "nothing in $file"

# run NAME=VALUE...: what a job says of its constants.
run() {
  for setting in "$@"; do export "OMPI_MCA_coll_topo_${setting%%=*}=${setting#*=}"; done
  timeout 60 mpirun -np 4 --mca coll_topo_verbose 1 "$build/bin/colltopo-bench" --collective alltoall --bytes 8 --check 2>&1
  for setting in "$@"; do unset "OMPI_MCA_coll_topo_${setting%%=*}"; done
}
output=$(run) || fail "the job: $output"
printf '%s\n' "$output" | grep -q "latency_node .* (measured, $file, Open MPI v[^)]*)" || fail "not found: $output"
printf '%s\n' "$output" | grep -q "latency_network 2 us, latency_hop 1 us (default)" || fail "the network's are not its own: $output"
printf '%s\n' "$output" | grep -q "prices are fitted to the measured times of [0-9]* algorithms; half of them" || fail "not fitted: $output"
output=$(run latency_node=7us)
printf '%s\n' "$output" | grep -q "latency_node 7 us (setting)" || fail "a setting does not go before: $output"
output=$(run constants=off)
printf '%s\n' "$output" | grep -q "measured, $file" && fail "off, but read: $output"
output=$(run "constants=$scratch/none.json")
printf '%s\n' "$output" | grep -q "none.json: no record of .*colltopo-probe makes one; the model has its own" || fail "no word: $output"
echo '{' > "$scratch/broken.json"
output=$(run "constants=$scratch/broken.json") || fail "a broken file ends the job: $output"
printf '%s\n' "$output" | grep -q "broken.json:2: .*expected a file of constants" || fail "broken, but no word: $output"

# A second measurement takes the place of the first; another number of ranks stands beside it.
timeout 60 mpirun -np 4 "$build/bin/colltopo" tune --seconds 4 >"$scratch/tune" 2>&1 || fail "tune: $(cat "$scratch/tune")"
timeout 60 mpirun -np 2 "$build/bin/colltopo-probe" >/dev/null 2>&1 || fail "the probe on 2 ranks"
output=$(timeout 60 mpirun -np 2 "$build/bin/colltopo-probe" --seconds 0.01 -o "$scratch/short.json" 2>&1) || fail "a short probe: $output"
printf '%s\n' "$output" | grep -q "no algorithm was measured: no time was left for them; expected more --seconds" || fail "0.01 s, and no word of it: $output"
output=$(timeout 60 mpirun -np 4 "$build/bin/colltopo-probe" --seconds 1 -o "$scratch/short.json" 2>&1) || fail "a short probe: $output"
printf '%s\n' "$output" | grep -Eq '^stored; .*; ([0-9]+ of [0-9]+ collectives not sure, [0-9]+ s more would do|all collectives sure)$|no time was left for them' || fail "1 s, and no word of it: $output"

# One rank has nobody to talk to.
output=$(timeout 60 mpirun -np 1 "$build/bin/colltopo" tune -o "$scratch/one.json" 2>&1) && fail "one rank: $output"
printf '%s\n' "$output" | grep -q "the job has 1 rank, .* or --constants-only; nothing is written" || fail "one rank, and no word of it: $output"
[ ! -e "$scratch/one.json" ] || fail "one rank, and a file"
timeout 60 mpirun -np 1 "$build/bin/colltopo" tune --constants-only -o "$scratch/one.json" >/dev/null 2>&1 || fail "constants of one rank"

# What is there, and how it goes.
output=$("$build/bin/colltopo" tune --show) || fail "--show: $output"
printf '%s\n' "$output" | grep -q "^$file: 2 records$" || fail "--show: $output"
printf '%s\n' "$output" | grep -Eq "^[^ ]+, 4 ranks on each, Open MPI v.*, transport .*: [0-9]+ constants, times of [0-9]+ algorithms, [0-9]+ s$" || fail "--show: $output"
"$build/bin/colltopo" tune --show --json | python3 -c 'import json, sys; assert len(json.load(sys.stdin)["records"]) == 2' || fail "--show --json"
cp "$file" "$scratch/forgotten.json"
output=$("$build/bin/colltopo" tune --forget elsewhere -o "$scratch/forgotten.json")
[ "$output" = "$scratch/forgotten.json: 0 records forgotten, 2 left" ] || fail "--forget elsewhere: $output"
output=$("$build/bin/colltopo" tune --forget -o "$scratch/forgotten.json")
[ "$output" = "$scratch/forgotten.json: 2 records forgotten, 0 left" ] || fail "--forget: $output"
output=$("$build/bin/colltopo" tune --forget "$(hostname)" -o "$scratch/one.json")
[ "$output" = "$scratch/one.json: 1 records forgotten, 0 left" ] || fail "--forget HOST: $output"
output=$("$build/bin/colltopo" tune --forget -o "$scratch/none-there.json")
[ "$output" = "$scratch/none-there.json: 0 records forgotten, 0 left" ] && [ ! -e "$scratch/none-there.json" ] || fail "--forget, no file: $output"
python3 -c '
import json, sys
assert [one["ranks_per_host"] for one in json.load(open(sys.argv[1]))["colltopo_constants"]] == [2, 4]
' "$file" || fail "records: $(cat "$file")"
output=$("$build/bin/colltopo" explain alltoall --ranks 4 --ranks-per-node 4 --bytes 8 --json)
printf '%s' "$output" | grep -q "measured, $file" || fail "explain does not say where constants are from: $output"
printf '%s' "$output" | python3 -c '
import json, sys
found = json.load(sys.stdin)
assert found["measured_algorithms"] > 0 and found["expected_error"] >= 0, found
' || fail "explain has no expected error: $output"
output=$("$build/bin/colltopo" explain alltoall --ranks 3 --ranks-per-node 3 --bytes 8)
printf '%s' "$output" | grep -q "prices are not fitted" || fail "fitted to what others took: $output"

# Open MPI's own times are its price, where nothing else is known of it, too.
output=$("$build/bin/colltopo" explain allreduce --ranks 4 --ranks-per-node 4 --bytes 8 --set allreduce_algorithm=fallback)
printf '%s\n' "$output" | grep -Eq '^\* +[0-9.]+ [num]?s  fallback \(priced as recursive-doubling, measured\)' || fail "no price of what is left: $output"
output=$("$build/bin/colltopo" explain gather --ranks 4 --ranks-per-node 4 --bytes 8)
printf '%s\n' "$output" | grep -Eq '[0-9.]+ [num]?s  fallback \(measured\)' || fail "no price of tuned's gather: $output"

# Without time, or without the component, constants alone.
output=$(timeout 60 mpirun -np 4 "$build/bin/colltopo-probe" -o "$scratch/alone.json" --seconds 0 --json 2>&1) || fail "no seconds: $output"
printf '%s' "$output" | python3 -c 'import json, sys; assert json.load(sys.stdin)["times"] == []' || fail "measured without time: $output"
cp "$file" "$scratch/kept.json"
timeout 60 mpirun -np 4 "$build/bin/colltopo-probe" -o "$scratch/kept.json" --seconds 0 >/dev/null 2>&1 || fail "constants again"
grep -q '"algorithm"' "$scratch/kept.json" || fail "times are lost when constants are measured again"
output=$(timeout 60 mpirun -np 4 --mca coll ^topo "$build/bin/colltopo-probe" -o "$scratch/alone.json" 2>&1) || fail "without the component: $output"
printf '%s\n' "$output" | grep -q "no algorithm was measured: coll/topo" || fail "no word of what is missing: $output"
output=$(timeout 60 mpirun -np 4 --mca coll_topo_priority -1 "$build/bin/colltopo-probe" -o "$scratch/alone.json" 2>&1) || fail "priority -1: $output"
printf '%s\n' "$output" | grep -q "no algorithm was measured: coll/topo served none of the calls" || fail "others' times: $output"
exit $failed
