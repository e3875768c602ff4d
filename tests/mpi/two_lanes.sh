# Sourced by scripts about lanes that fail, after `build` has been set, with the script's own arguments: goes on in a network of
# its own with two devices, lane0 and lane1, at 10.9.0.1 and 10.9.1.1, or skips the test. Gives here and what mpirun needs.
here=$(dirname "$(realpath "$0")")
if [ ! -f "$build/lib/libcolltopo_ucx.so" ]; then
  echo "SKIP: built without UCX" >&2
  exit 77
fi
if [ "${2:-}" != inside ]; then
  if ! unshare --net true 2>/dev/null; then
    echo "SKIP: a network of its own needs 'unshare --net', which is not permitted here" >&2
    exit 77
  fi
  # /sys shows the devices of the network that it was mounted in.
  exec unshare --net --mount sh -c 'mount -t sysfs sysfs /sys && exec "$0" "$1" inside' "$0" "$build"
fi

ip link set lo up
for lane in 0 1; do
  ip link add "lane$lane" type veth peer name "other$lane" || exit 77
  ip address add "10.9.$lane.1/32" dev "lane$lane"
  ip link set "lane$lane" up
  ip link set "other$lane" up
done
# Rules before the table of local addresses, which would answer itself.
ip rule add pref 100 lookup local && ip rule del pref 0
export UCX_TLS=tcp,self OMPI_MCA_coll_topo_transport=ucx OMPI_MCA_coll_topo_lanes=device:lane0,lane1
export OMPI_MCA_btl=vader,self OMPI_MCA_oob_tcp_if_include=lo
