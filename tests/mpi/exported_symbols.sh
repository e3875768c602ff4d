#!/bin/sh
# exported_symbols.sh BUILD: the component exports its description only, and pulls no C++ library or LP solver into the program.
set -u
component=$1/lib/openmpi/mca_coll_topo.so
symbols=$(nm -D --defined-only "$component" | awk '{print $3}')
if [ "$symbols" != mca_coll_topo_component ]; then
  echo "FAILED: exported symbols: $symbols" >&2
  exit 1
fi
# The names alone: an address of ldd's may contain cbc.
libraries=$(ldd "$component" | awk '{print $1}')
if [ -z "$libraries" ]; then
  echo "FAILED: ldd names no library of $component" >&2
  exit 1
fi
if echo "$libraries" | grep -E 'libstdc\+\+|libgcc_s|[Cc]lp|[Cc]bc|glpk|[Hh]ighs|[Cc]oin'; then
  echo "FAILED: libraries that a program does not expect" >&2
  exit 1
fi
