# What scripts of MPI tests begin with: sourced after `build` has been set. Gives here, scratch, fail and failed, and mpirun's
# environment.
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
  echo "FAILED: $*" >&2
  failed=1
}

. "$here/environment.sh"
