#!/bin/bash
# install_test.sh BUILD SOURCE CXX CC MPI: installs into a folder of its own and builds two programs against it.
set -euo pipefail
build=$1 source=$2 cxx=$3 cc=$4 mpi=$5
if grep -qE '^COLLTOPO_(SANITIZE:STRING=.+|COVERAGE:BOOL=ON)' "$build/CMakeCache.txt"; then
  echo "skipped: libraries with sanitizers or coverage are not for users"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work/stage cmake --install "$build" --prefix /opt/colltopo >"$work/log"
opt=$work/stage/opt/colltopo

fail() { echo "install: $*"; exit 1; }
for file in bin/colltopo include/colltopo/colltopo.h include/colltopo/verify.h share/man/man1/colltopo.1 share/colltopo/schedules/README.md; do
  [ -f "$opt/$file" ] || fail "$file is missing"
done
if [ "$mpi" = ON ]; then
  for file in mca_coll_topo.so; do
    [ -n "$(find "$work/stage" -name "$file")" ] || fail "$file is missing"
  done
  [ -n "$(find "$opt" -name libcolltopo_mpi.so)" ] || fail "libcolltopo_mpi.so is missing"
  [ -n "$(find "$opt" -name libcolltopo_team.so)" ] || fail "libcolltopo_team.so is missing"
  . "$source/../helpers/launch.sh"
  timeout -k 3 60 mpirun -np 2 "$opt/bin/colltopo" \
    generate mcf torus:3x3 --json >"$work/answer" || fail "colltopo does not generate under mpirun"
  grep -q '"processes": 2' "$work/answer" || fail "installed, colltopo does not share work under mpirun"
  if [ -f "$build/lib/libcolltopo_ucx.so" ]; then
    [ -n "$(find "$opt" -name libcolltopo_ucx.so)" ] || fail "libcolltopo_ucx.so is missing"
  fi
fi

flags=$(grep -q '^CMAKE_BUILD_TYPE:STRING=Release' "$build/CMakeCache.txt" || echo --any-flags)
python3 "$source/binaries_test.py" $flags "$work/stage" || fail "a program or library is not as it must be"

echo "CMake package"
cat >"$work/CMakeLists.txt" <<'X'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(colltopo REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user colltopo::algorithms colltopo::verify colltopo::import)
X
cp "$source/user.cpp" "$source/user.c" "$work"
cmake -G Ninja -S "$work" -B "$work/build" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$opt" >>"$work/log"
cmake --build "$work/build" >>"$work/log"
[ "$("$work/build/user")" = "tra radix=3 on 8 ranks: right" ] || fail "the program built with the CMake package says otherwise"

echo "pkg-config"
if ! command -v pkg-config >/dev/null; then
  echo "skipped: no pkg-config"
  exit 0
fi
export PKG_CONFIG_PATH=$(dirname "$(find "$opt" -name colltopo.pc)")
# The prefix in the file is that of the final place.
flags=$(pkg-config --define-variable=prefix="$opt" --cflags --libs colltopo)
# shellcheck disable=SC2086
"$cc" -o "$work/c_user" "$work/user.c" $flags
"$work/c_user" || fail "the C program built with pkg-config fails"
