#!/bin/bash
# current_folder.sh BUILD: programs that are started in a folder of somebody else's load and run nothing that lies there: neither the
# libraries that they need, under their names, nor what they look for beside themselves.
set -u
build=$1
if grep -qE '^COLLTOPO_SANITIZE:STRING=.+' "$build/CMakeCache.txt"; then
  echo "skipped: a sanitizer's library must come first"
  exit 77
fi
here=$(dirname "$(realpath "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
cd "$folder" || exit 1
echo '#include <unistd.h>
__attribute__((constructor)) static void look(void) { if (write(2, "code of the current folder runs\n", 32)) {} _exit(66); }' >decoy.c
"${CC:-cc}" -shared -fPIC -o decoy decoy.c || exit 1

needed() { LC_ALL=C readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
programs=$(cd "$build/bin" && ls colltopo colltopo-probe colltopo-bench colltopo-fft3d colltopo-bench-core 2>/dev/null)
for binary in $(printf "$build/bin/%s " $programs) "$build"/lib/*.so "$build"/lib/openmpi/*.so; do
  for name in $(needed "$binary"); do cp decoy "$name"; done
done
for name in libcolltopo_ucx.so libcolltopo_team.so libcolltopo_team_mpich.so libcolltopo_mpi.so mca_coll_topo.so; do cp decoy "$name"; done
cp "$build/bin/colltopo" real-command
printf '#!/bin/sh\necho code of the current folder runs\n' | tee colltopo-probe >neato
cp neato sfdp
chmod +x colltopo-probe neato sfdp
# A decoy runs, or lacks what the program is bound to at its start.
loaded='code of the current folder runs|symbol lookup error|error while loading shared|no version information'
LD_LIBRARY_PATH=$folder "$build/bin/colltopo" --version 2>&1 | grep -qE "$loaded" || { echo "the decoys are none"; failed=1; }

# Whatever a command says, and however it ends.
check() {
  local said
  said=$(timeout -k 3 60 "$@" 2>&1 </dev/null)
  if grep -qE "$loaded" <<<"$said"; then
    echo "FAILED: $*: $said" | head -3
    failed=1
  fi
}
unset LD_LIBRARY_PATH
. "$here/../helpers/launch.sh"
. "$build/env.sh"
for program in $programs; do
  check "$program" --help
  check "$build/bin/$program" --help
done
check colltopo draw ring:5 -o drawing.svg
check colltopo doctor
if [ -e "$build/bin/colltopo-probe" ]; then
  check mpirun -np 1 colltopo tune --help
  check mpirun -np 2 colltopo tune --seconds 0 -o constants.json
  [ -s constants.json ] || { echo "FAILED: colltopo tune does not run"; failed=1; }
  check mpirun -np 2 colltopo generate mcf torus:3x3
  check mpirun -np 2 colltopo-bench --collective alltoall --bytes 64
  check mpirun -np 2 -x COLLTOPO_TRANSPORT=ucx -x LD_PRELOAD="$build/lib/libcolltopo_mpi.so" colltopo-bench --collective alltoall --bytes 64
  check mpirun -np 2 --mca coll_topo_transport ucx colltopo-bench --collective alltoall --algorithm linear --bytes 64
fi
[ $failed -eq 0 ] && echo "nothing of the current folder was loaded or run"
exit $failed
