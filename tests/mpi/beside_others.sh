#!/bin/sh
# beside_others.sh BUILD: jobs in which Open MPI's other components of coll are there too, on one node and on several made-up
# ones, where coll/han works. Values right, calls counted exactly, and without coll/topo all is as if it were not installed.
set -u
build=$1
. "$(dirname "$(realpath "$0")")/job.sh"
program=$build/bin/mpi_beside_others

# job NODES RANKS OPTIONS...: output in $output; 77: no made-up nodes here.
job() {
  nodes=$1 ranks=$2
  shift 2
  output=$(timeout -k 3 60 "$here/run.sh" "$build" "$nodes" "$ranks" "$@" 2>&1)
  status=$?
  if [ $status -eq 77 ]; then
    echo "$output"
    exit 77
  fi
}

# right WHAT: the last job ended well.
right() {
  [ $status -eq 0 ] || fail "$1: status $status: $output"
}

# all VALUE: this algorithm for every collective.
all() {
  for collective in alltoall allgather reduce_scatter allreduce bcast reduce gather scatter; do
    printf -- '--mca coll_topo_%s_algorithm %s ' "$collective" "$1"
  done
}
forced='--mca coll_topo_alltoall_algorithm linear --mca coll_topo_allgather_algorithm ring
  --mca coll_topo_reduce_scatter_algorithm ring --mca coll_topo_allreduce_algorithm ring
  --mca coll_topo_bcast_algorithm binomial --mca coll_topo_reduce_algorithm binomial
  --mca coll_topo_gather_algorithm binomial --mca coll_topo_scatter_algorithm binomial'

version=$(ompi_info --version | sed -n 's/^Open MPI v//p')
installed=$(ompi_info --parsable 2>/dev/null | sed -n 's/^mca:coll:\([a-z]*\):version:.*/\1/p' | sort -u | paste -sd ' ' -)
echo "components of coll: $installed"
is_there() {
  case " $installed " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

# beside OTHER MODE SHAPE OPTIONS...: one job with coll/OTHER at the priority in $priority.
beside() {
  other=$1 mode=$2 shape=$3
  shift 3
  # shellcheck disable=SC2086
  job $shape --mca "coll_${other}_priority" "$priority" "$@" "$program" "$mode"
  right "$other at $priority, $mode, nodes and ranks $shape"
}

# Each other component next in line, by its priority, on one node and on several; coll/han takes part in the latter alone.
# basic's own calls on the communicator are calls like others, and one rank per node is what coll/han cannot do.
for other in tuned libnbc basic adapt han ucc; do
  if ! is_there "$other"; then
    echo "no coll/$other in this Open MPI"
    continue
  fi
  priority=55
  also=
  [ "$other" != ucc ] || also='--mca coll_ucc_enable 1'
  for shape in '1 4' '2 4' '2 3' '4 4'; do
    case $shape in
      '1 4') modes='served left' ;;
      '2 3') modes=served ;;
      '4 4') modes=left ;;
      *) modes='served left auto' ;;
    esac
    [ "$other" != basic ] || modes='served any'
    case $other:$version:$shape in
      han:4.1.*:1*) ;;
      han:4.1.*) modes=back ;;
    esac
    for mode in $modes; do
      settings=
      [ "$mode" != served ] || settings=$forced
      [ "$mode" != left ] || settings=$(all fallback)
      # shellcheck disable=SC2086
      beside "$other" "$mode" "$shape" $also $settings
    done
    case $mode:$output in
      back:*'coll/han of Open MPI 4.1 does not work below another component'*) ;;
      back:*) fail "nothing is said of coll/han: $output" ;;
    esac
  done
  # Above coll/topo, it is the one that leaves calls.
  priority=65
  # shellcheck disable=SC2086
  beside "$other" any "2 4" $also
  echo "coll/$other: done"
done

# Who is chosen without coll/topo is who is chosen where it was never installed. Of whole lines: mpirun may cut one in two
# where ranks write at the same time, and each is there many times.
chosen() {
  printf '%s\n' "$output" | sed -n 's/.*coll:base:comm_select: \(component available: [a-z0-9_]*, priority: -\{0,1\}[0-9]*\)$/\1/p' | sort -u
}
for shape in '1 4' '2 4'; do
  # shellcheck disable=SC2086
  job $shape --mca coll ^topo --mca coll_base_verbose 40 "$program" absent
  right "without coll/topo, nodes and ranks $shape"
  without=$(chosen)
  # shellcheck disable=SC2086
  job $shape --mca mca_base_component_path SYSTEM_DEFAULT --mca coll_base_verbose 40 "$program" absent
  right "where coll/topo is not installed, nodes and ranks $shape"
  case $without in *tuned*) ;; *) fail "Open MPI does not say whom it chooses: $output" ;; esac
  [ "$without" = "$(chosen)" ] || fail "--mca coll ^topo changes who serves: $without; without coll/topo: $(chosen)"
done
exit $failed
