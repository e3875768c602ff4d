#!/bin/bash
# programs.sh BUILD CASE RANKS CORRUPTION: one case of the benchmark programs under mpirun; 0 when it does as it should.
set -euo pipefail
build=$1 name=$2 ranks=$3 corruption=$4
here=$(dirname "$(realpath "$0")")
mpi() { timeout 100 "$here/../mpi/run.sh" "$build" 1 "$@"; }
bench=$build/bin/colltopo-bench
fft3d=$build/bin/colltopo-fft3d
fail() { echo "$name on $ranks ranks: $*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

case $name in
  fft3d)  # sides that no rank count divides but its own multiples, and an odd z
    for decomposition in slab pencil; do
      for transform in c2c r2c; do
        mpi "$ranks" --mca coll_topo_alltoall_algorithm tra "$fft3d" --grid "$((ranks * 3))x$((ranks * 2))x7" \
          --decomposition $decomposition --transform $transform --iterations 2 --verify --json >"$scratch/out"
        grep -q '"correct": true' "$scratch/out" || fail "$decomposition $transform: not verified"
        [ "$ranks" -eq 1 ] || grep -q '"topo_algorithm": "tra"' "$scratch/out" || fail "coll/topo did not serve the exchanges"
      done
    done
    # Sides that no rank count divides.
    for exchange in alltoallv ialltoallv persistent; do
      for decomposition in slab pencil; do
        mpi "$ranks" --mca coll_topo_alltoallv_algorithm linear "$fft3d" --grid "$((ranks * 3 + 1))x$((ranks * 2 + 1))x9" \
          --decomposition $decomposition --transform r2c --exchange $exchange --iterations 2 --verify --json >"$scratch/out"
        grep -q '"correct": true' "$scratch/out" || fail "$decomposition by $exchange: not verified"
        grep -q "\"exchange\": \"$exchange\"" "$scratch/out" || fail "$decomposition: not by $exchange"
        [ "$ranks" -eq 1 ] || grep -q '"topo_algorithm": "linear"' "$scratch/out" || fail "coll/topo did not serve $exchange"
      done
    done
    ;;
  values)  # every collective, elements of each size, the operations that integers allow
    mpi "$ranks" "$bench" --algorithm auto,native --bytes 1,4,1000 --check --iterations 5
    mpi "$ranks" "$bench" --algorithm ring --collective allgather,allreduce,reduce_scatter,reduce_scatter_block \
      --bytes 8,4K --check --iterations 5 --type int32 --op bxor
    mpi "$ranks" "$bench" --algorithm tra:radix=2 --collective alltoall --bytes 8,4K --check --iterations 5
    "$build/bin/colltopo" generate linear "switch:$ranks" -o "$scratch/linear@8.sched" >/dev/null
    file=file:$scratch/linear@8.sched  # an @ of its name, and one of a form
    mpi "$ranks" "$bench" --algorithm "$file,$file@nonblocking,$file@persistent" --collective alltoallv --bytes 8,4K --check --iterations 5
    all_counts="equal uneven skewed huge sparse hot diagonal slabs near halo"
    case $ranks in  # three have all; the others take their time and add little: two have one neighbor each
      2) all_counts="uneven sparse halo" ;;
      8) all_counts=skewed ;;
    esac
    for counts in $all_counts; do
      mpi "$ranks" "$bench" --algorithm linear,native,linear@nonblocking,linear@persistent,native@persistent --bytes 8,4K \
        --collective alltoallv,alltoallw,gatherv,scatterv,neighbor_alltoallv --counts $counts --check --iterations 5
      mpi "$ranks" "$bench" --algorithm ring,native,ring@nonblocking,bruck@persistent --collective allgatherv --bytes 8,4K \
        --counts $counts --check --iterations 5
      mpi "$ranks" "$bench" --algorithm tra,tra2,node-pairs --collective alltoallv,neighbor_alltoallv --bytes 8,4K --counts $counts \
        --check --iterations 5
    done
    ;;
  versus)
    mpi "$ranks" "$bench" --collective alltoall --versus tra,native --bytes 8:32 --check --iterations 200 --json >"$scratch/out"
    python3 - "$scratch/out" <<'EOF'
import json, sys
results = json.load(open(sys.argv[1]))["results"]
assert [(r["algorithm"], r["bytes"]) for r in results] == [(a, b) for b in (8, 16, 32) for a in ("tra", "native")], results
for mine, other in zip(results[::2], results[1::2]):
    assert mine["correct"] is True and other["correct"] is True
    assert mine["served_by"] == "tra" and other["served_by"] == "open-mpi"
    assert mine["messages"] >= mine["ranks"] - 1 and mine["messages_between_nodes"] == 0 and "messages" not in other
    assert mine["ranks"] == 2 and 0 < mine["p10_us"] <= mine["median_us"] <= mine["p90_us"]
    assert abs(mine["ratio"] * other["ratio"] - 1) < 0.05, (mine, other)
EOF
    mpi "$ranks" "$bench" --collective alltoall --versus tra,linear,native --bytes 8 --check --iterations 200 --json >"$scratch/out"
    python3 - "$scratch/out" <<'EOF'
import json, sys
first, second, last = json.load(open(sys.argv[1]))["results"]
assert [r["served_by"] for r in (first, second, last)] == ["tra", "linear", "open-mpi"]
assert abs(first["ratio"] * last["ratio"] - 1) < 0.05 and second["ratio"] > 0, (first, second, last)
EOF
    # An option whose parameter (coll_topo_reduce_scatter_intra_radix) is too long a key for MPI.
    mpi 8 --mca coll_topo_verbose 1 "$bench" --collective reduce_scatter --algorithm two-level:group=4:intra_radix=4:leaders=1 --bytes 8 --check \
      --iterations 20 >"$scratch/out" 2>&1 || fail "an option with a long name: $(cat "$scratch/out")"
    grep -q "ranks, .*: two-level group=4 intra_radix=4 leaders=1 (parameter" "$scratch/out" || fail "not that variant: $(cat "$scratch/out")"
    # A trial, 259 calls with those before it at most, is over before the first call that is timed, and that call is the only one.
    mpi "$ranks" --mca coll_topo_verbose 1 "$bench" --collective alltoall --versus set,native --bytes 1K --iterations 1 --warmup 0 --settle 265 \
      >"$scratch/out" 2>&1
    grep -q "(measured: " "$scratch/out" || fail "no trial has ended: $(cat "$scratch/out")"
    mpi "$ranks" --mca coll_topo_verbose 1 "$bench" --collective alltoall --versus set,native --bytes 1K --iterations 1 --warmup 0 \
      >"$scratch/out" 2>&1
    ! grep "(measured: " "$scratch/out" || fail "a trial of calls that were not made"
    ;;
  overhead)
    mpi "$ranks" "$bench" --collective alltoall --algorithm tra --bytes 8 --overhead 4 --iterations 200 --json >"$scratch/out"
    python3 - "$scratch/out" <<'EOF'
import json, sys
cost, = json.load(open(sys.argv[1]))["overhead"]
assert cost["asked"] == cost["algorithm"] == "tra", cost
assert cost["messages_per_call"] == 1 and cost["plan_hit_share"] == 1, cost
assert 0 < cost["used_bytes"] < 1e6 and cost["created_bytes"] < 1e5, cost
EOF
    # Two ranks have nothing to gain, so auto declines; what a plan costs is shown all the same, and by which. What trials
    # decide here is not what this is about.
    mpi "$ranks" --mca coll_topo_choice model "$bench" --collective alltoall,allreduce --algorithm auto --bytes 8 --overhead 4 --iterations 200 --json \
      >"$scratch/out"
    python3 - "$scratch/out" <<'EOF'
import json, sys
for cost in json.load(open(sys.argv[1]))["overhead"]:
    assert cost["asked"] == "auto" and cost["algorithm"] != "auto", cost
    assert cost["messages_per_call"] >= 1 and cost["plan_hit_share"] == 1, cost
EOF
    mpi "$ranks" --mca coll_topo_choice model "$bench" --collective bcast --algorithm auto --bytes 8 --overhead 2 --iterations 50 >"$scratch/out"
    grep -q 'auto leaves this call to Open MPI; shown is the fastest here of binomial' "$scratch/out" ||
      fail "it does not say what is shown: $(cat "$scratch/out")"
    ;;
  record)
    mpi "$ranks" "$bench" --collective allreduce --bytes 1K --versus ring,recursive-doubling,native --record "$scratch/series.txt" \
      --record-calls 100 --iterations 20 >"$scratch/out"
    python3 - "$scratch/series.txt" "$ranks" <<'EOF'
import sys
lines = open(sys.argv[1]).read().splitlines()
assert lines[0] == f"# allreduce of 1024 bytes on {sys.argv[2]} ranks, mean of the ranks, us", lines[0]
assert lines[1].startswith("# load of the machine"), lines[1]
rows = [line.split() for line in lines[2:]]
assert [row[0] for row in rows] == ["ring", "recursive-doubling", "native"], rows
for row in rows:
    assert len(row) == 1 + 104, len(row)  # whole turns of 26
    assert all(float(value) > 0 for value in row[1:]), row
EOF
    "$build/bin/colltopo-replay" --policy race --series "$scratch/series.txt" --calls 1000 --jobs 1 --json >"$scratch/out"
    grep -q '"noise": "series.txt"' "$scratch/out" || fail "not played: $(cat "$scratch/out")"
    status=0
    mpi "$ranks" "$bench" --collective allreduce --bytes 1K --versus ring,native --iterations 20 --record-calls 26 \
      --record "$scratch/none/series.txt" >"$scratch/out" 2>&1 || status=$?
    [ "$status" -ne 0 ] || fail "a series that cannot be written ends well"
    grep -q 'none/series.txt' "$scratch/out" || fail "no word of the file: $(cat "$scratch/out")"
    ;;
  wrong_values_are_found)
    if mpi "$ranks" -x LD_PRELOAD="$corruption" "$bench" --collective alltoall --algorithm native --bytes 1K --check \
      --iterations 5 >"$scratch/out" 2>"$scratch/err"; then
      fail "colltopo-bench passed a wrong element"
    fi
    grep -q "rank $((ranks - 1)): 1 wrong: element $((ranks * 128 - 1)) of $((ranks * 128))" "$scratch/err" ||
      fail "the wrong element is not named: $(cat "$scratch/err")"
    if mpi "$ranks" -x LD_PRELOAD="$corruption" "$fft3d" --grid 6x6x4 --iterations 1 --verify >"$scratch/out" 2>&1; then
      fail "colltopo-fft3d passed a wrong element"
    fi
    grep -q WRONG "$scratch/out" || fail "colltopo-fft3d failed otherwise: $(cat "$scratch/out")"
    ;;
  usage)  # one line that names the value, status 2
    refused() {
      local expected=$1 status=0
      shift
      mpi "$ranks" "$@" >"$scratch/out" 2>&1 || status=$?
      [ "$status" -eq 2 ] || fail "status $status, not 2: $*"
      grep -q -- "$expected" "$scratch/out" || fail "no \"$expected\" from $*: $(cat "$scratch/out")"
    }
    refused '"foo" is not one of' "$bench" --collective foo
    refused '"4X" is not a size' "$bench" --bytes 4X
    refused 'not a multiple of the 8 bytes' "$bench" --bytes 12 --type double
    refused 'names 1 algorithms, not two or more' "$bench" --versus tra
    refused 'one collective and one size' "$bench" --versus ring,native --bytes 8,1K --collective allreduce --record x
    refused 'native as the last' "$bench" --versus native,ring --bytes 8 --collective allreduce --record x
    refused 'coll_topo_alltoall_rdx' "$bench" --collective alltoall --algorithm tra:rdx=4
    refused 'x = 5 points do not divide by 2 ranks' "$fft3d" --grid 5x4x4
    refused 'is not 3 numbers' "$fft3d" --grid 4x4
    ;;
  *) fail "no such case" ;;
esac
