#!/bin/sh
# other_user.sh BUILD: files that a job finds by itself count only where nobody else could have written them: rules and schedules
# beside a topology, in the current folder, at home and in the cache. Each is used at first, so that the test has teeth; then others
# may write it, and one line says so while the model decides.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"
export HOME="$scratch/home"
unset XDG_CACHE_HOME
chmod 755 "$scratch"
shared=$scratch/shared
mkdir -p "$shared" "$HOME/.colltopo/schedules/mine" "$HOME/.cache/colltopo"

cat >"$shared/topology.json" <<END
{"colltopo-topology": 1, "name": "mine", "hosts": ["$(hostname)", "other"], "switches": 0,
 "links": [{"tail": 0, "head": 1}, {"tail": 1, "head": 0}]}
END
"$build/bin/colltopo" topology "$shared/topology.json/ranks:4,0" --json >"$scratch/report" || fail "$(cat "$scratch/report")"
fingerprint=$(sed -n 's/.*"fingerprint": "\([^"]*\)".*/\1/p' "$scratch/report")
rules="{\"rule_file_version\": 3, \"collectives\": {\"alltoall\": [{\"topology\": \"$fingerprint\", \"rules\": [{\"alg\": \"ring\"}]}]}}"
printf '%s\n' "$rules" | sed 's/"ring"/"pairwise"/' >"$scratch/rules.json"

# job TOPOLOGY [mpirun options]: what an alltoall of four ranks on this host says, checked.
job() {
  topology=$1
  shift
  timeout -k 3 60 mpirun -np 4 --mca coll_topo_choice model --mca coll_topo_verbose 1 --mca coll_topo_topology "$topology" "$@" \
    "$build/bin/colltopo-bench" --collective alltoall --bytes 64 --check 2>&1
}
used() {
  output=$(job "$@") || fail "$*: the job failed: $output"
  printf '%s\n' "$output" | grep -q 'rules of a folder' || fail "$*: the rules are not used: $output"
}
# distrusted WORDS TOPOLOGY [options]: not used; one line of one process says why.
distrusted() {
  words=$1
  shift
  output=$(job "$@") || fail "$*: the job failed: $output"
  printf '%s\n' "$output" | grep -q 'rules of a folder' && fail "$*: another user's rules are used: $output"
  [ "$(printf '%s\n' "$output" | grep -c "$words.*does not count; the model")" -eq 1 ] || fail "$*: not one line with '$words': $output"
}

# Beside the topology, by its path and in the current folder.
cp "$scratch/rules.json" "$shared/rules.json"
used "$shared/topology.json"
cd "$shared" || exit 1
used topology.json
chmod 1777 "$shared"
distrusted 'may be written to by all users' "$shared/topology.json"
distrusted 'may be written to by all users' topology.json
used "$shared/topology.json" --mca coll_topo_schedules "$shared" # named
chmod 755 "$shared"
chmod 666 "$shared/rules.json"
distrusted 'rules.json has mode 0666' topology.json
if [ "$(id -u)" -eq 0 ]; then
  chmod 644 "$shared/rules.json"
  chown 65534 "$shared/rules.json"
  distrusted 'belongs to user 65534' topology.json
  rm "$shared/rules.json"
  chmod 1777 "$shared"
  setpriv --reuid=65534 --regid=65534 --clear-groups cp "$scratch/rules.json" "$shared/rules.json" || fail "nobody writes nothing"
  distrusted 'belongs to user 65534\|may be written to by all users' topology.json
fi
chmod 755 "$shared"
rm -f "$shared/rules.json"

# At home.
cp "$scratch/rules.json" "$HOME/.colltopo/schedules/mine/rules.json"
used "$shared/topology.json"
chmod 777 "$HOME/.colltopo"
distrusted '.colltopo has mode 0777' "$shared/topology.json"
chmod 755 "$HOME/.colltopo"

# The cache of constants.
timeout -k 3 60 mpirun -np 4 "$build/bin/colltopo-probe" --seconds 0 >/dev/null 2>&1 || fail "no constants"
output=$(job ring:4)
printf '%s\n' "$output" | grep -q 'constants.json' || fail "constants are not found: $output"
chmod 777 "$HOME/.cache/colltopo"
output=$(job ring:4)
printf '%s\n' "$output" | grep -q 'cache/colltopo has mode 0777); coll_topo_constants does not name it.*the model has its own constants' ||
  fail "another user's constants are used: $output"
exit $failed
