"""`netlab up`: makes a network.

    up ── watcher ── hub (process 1 of the network) ── one first process per station

Until the network is whole each dies with its parent, so an `up` that is killed at any moment leaves a folder and nothing
else; then the hub is let go and `up` ends. The watcher exists because only a child is in a new process namespace.
"""
import dataclasses
import fcntl
import json
import os
import select
import signal
import time

from . import addresses, features, kernel, plan, routing, state, station, wire
from .fault import WRONG, Fault
from .topology import HEAD, load


def up(name, topo, shaping, routes_file=None, single_path=None, planes=1):
    """Brings a network up, with the tables of routes_file or one path per pair: lowest, hash or balanced, by default what the topology
    says, else lowest, and addresses in at least so many planes. Returns what to print about it."""
    begin = time.monotonic()
    if not 1 <= planes <= addresses.PLANES_MAX:
        raise Fault(f"--planes {planes}: expected 1 to {addresses.PLANES_MAX}")
    native, graph = load(topo)
    plan.check_size(graph)
    by_itself = native.pop("routes", "lowest")
    single_path = single_path or by_itself
    if routes_file:
        tables = routing.load(graph, routes_file)
    elif single_path == "balanced":
        tables = routing.balanced(graph, topo)
    else:
        tables = routing.shortest(graph, hashed=single_path == "hash")
        native["routes"] = single_path
    tables.planes = max(tables.planes, planes)
    shaping = dataclasses.replace(shaping, delay_by=features.delay_by(shaping.delay_us))
    features.require(shaping.shaper, shaping.delay_by, tables.detours)
    stub = features.stub()
    folder = state.claim(name)
    try:
        _write_plan(folder, graph, tables, shaping, stub)
        settings = {"planes": tables.planes, "stub": stub, "shaping": dataclasses.asdict(shaping)}
        _build(folder, name, graph, {"topology": native} | settings)
    except BaseException:
        state.remove(name)
        raise
    return {
        "name": name,
        "topology": graph.name,
        "hosts": graph.hosts,
        "switches": len(graph.switches),
        "switches_are": _kind_of_switches(graph),
        "links": len(graph.links),
        "rate_bits": shaping.rate,
        "shaper": shaping.shaper,
        "queue_bytes": shaping.queue,
        "delay_us": shaping.delay_us,
        "delay_by": shaping.delay_by,
        "planes": tables.planes,
        "lanes_on": stub,
        "routes": sum(len(tables.of_node[node]) for node in stations_of(graph)),
        "rules": len(tables.detours),
        "routes_are": tables.origin,
        "seconds": time.monotonic() - begin,
    }


def _kind_of_switches(graph):
    if not graph.switches:
        return "none"
    return "bridges" if graph.bridged else f"routers: {graph.why_forwarded}"


def stations_of(graph):
    """Nodes that are machines: hosts, and switches where these forward."""
    return range(graph.hosts if graph.bridged else graph.nodes)


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _write_plan(folder, graph, tables, shaping, stub):
    os.makedirs(f"{folder}/nodes")
    os.mkdir(f"{folder}/tmp")
    write_lines(f"{folder}/hosts", plan.host_file(graph))
    write_lines(f"{folder}/hosts.list", graph.host_names)
    write_lines(f"{folder}/hub.devices", plan.hub_devices(graph, shaping))
    write_lines(f"{folder}/hub.forwarding", plan.hub_forwarding(graph))
    write_lines(f"{folder}/hub.shaping", plan.hub_shaping(graph, shaping))
    for node in stations_of(graph):
        for kind, lines in dataclasses.asdict(plan.station(graph, tables, shaping, node, stub)).items():
            write_lines(f"{folder}/nodes/{node}.{kind}", lines)


def _build(folder, name, graph, settings):
    report, say = os.pipe()
    hear, release = os.pipe()
    before = os.getpid()
    # Whoever ends `up` from the fork on meets the `try` that ends the watcher.
    ends = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    watcher = os.fork()
    if watcher == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ends)
        os.close(report)
        os.close(release)
        _watch(folder, name, graph, settings, before, say, hear)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ends)
        os.close(say)
        os.close(hear)
        with os.fdopen(report, encoding="utf-8") as lines:
            said = [json.loads(line) for line in lines]
        fault = next((line["fault"] for line in said if "fault" in line), None)
        if fault or len(said) != 2:
            raise Fault(f"{graph.name}: {fault or 'the hub ended while it was made'}", WRONG)
        about = {"pid": said[0]["hub"], "start": kernel.start_time(said[0]["hub"])}
        about |= settings | {"stations": said[1]["stations"]}
        _write_agent(folder, graph, said[1]["stations"])
        with open(f"{folder}/topology.json", "w", encoding="utf-8") as file:
            json.dump(_as_built(settings["topology"], graph, settings["shaping"]), file)
        state.write_json(f"{folder}/network.json", about)
        os.write(release, b"x")
        os.waitpid(watcher, 0)
    except BaseException:
        os.kill(watcher, signal.SIGKILL)
        os.waitpid(watcher, 0)
        raise
    finally:
        os.close(release)


def _as_built(native, graph, shaping):
    """The topology as it is here: by the names of these hosts, at the rates and delays of these cables."""
    bytes_per_unit = shaping["rate"] / 8 / graph.slowest_bandwidth()
    delay = {"latency": shaping["delay_us"] * 1e-6} if shaping["delay_us"] > 0 else {}
    links = [link | {"bandwidth": link["bandwidth"] * bytes_per_unit} | delay for link in native["links"]]
    return native | {"hosts": graph.host_names, "links": links}


def _watch(folder, name, graph, settings, parent, say, hear):
    """Of the watcher. Ends when the hub has been let go."""
    try:
        os.setsid()  # an interrupt is for `up` alone, which then ends what it began
        kernel.die_with_parent(True)
        if os.getppid() != parent:
            os._exit(1)
        # Every process of the network holds this lock by its copy of the descriptor.
        alive = os.open(f"{folder}/alive", os.O_RDWR | os.O_CREAT, 0o600)
        os.set_inheritable(alive, True)
        fcntl.flock(alive, fcntl.LOCK_EX)
        kernel.unshare(kernel.PID)
        tied, tie = os.pipe()
        hub = os.fork()
        if hub == 0:
            os.close(tie)
            _hub(folder, name, graph, settings, tied, say, hear)
        os.close(tied)
        os.write(say, json.dumps({"hub": hub}).encode() + b"\n")
        os.close(say)
        os.close(hear)
        # The hub closes its end when it no longer dies with this process.
        poll = select.poll()
        poll.register(tie, select.POLLERR)
        poll.poll()
    except OSError as error:
        os.write(say, json.dumps({"fault": error.strerror}).encode() + b"\n")
    os._exit(0)


def _hub(folder, name, graph, settings, tied, say, hear):
    """Of process 1 of the network: makes stations and cables, then is the machine of the bridges and of mpirun."""
    try:
        kernel.die_with_parent(True)
        if select.select([tied], [], [], 0)[0]:
            os._exit(1)  # the watcher has died already
        kernel.unshare(kernel.NET | kernel.MOUNT | kernel.UTS | kernel.IPC)
        station.own_machine(HEAD, f"{folder}/hosts")
        stations = [station.Station(folder, node, graph.name_of(node)) for node in stations_of(graph)]
        for one in stations:
            one.start()
        for one in stations:
            one.wait_made()
        place = {one.node: one.pid for one in stations} | ({s: os.getpid() for s in graph.switches} if graph.bridged else {})
        by_process = settings["shaping"]["delay_by"] == "wire"
        kernel_wires = [] if by_process else plan.wires(graph, place)
        write_lines(f"{folder}/wires", kernel_wires + plan.management_wires(graph, place))
        station.batch("ip", f"{folder}/wires")
        if by_process:
            wire.lay(plan.cables(graph), place, settings["shaping"]["delay_us"] * 1e-6)
        for one in stations:
            one.go()
        station.batch("ip", f"{folder}/hub.devices")
        station.batch("bridge", f"{folder}/hub.forwarding")
        station.batch("tc", f"{folder}/hub.shaping")
        for one in stations:
            one.wait_ready()
        station.wait_for_bridges()
        os.write(say, json.dumps({"stations": {one.node: one.pid for one in stations}}).encode() + b"\n")
        os.close(say)
        if os.read(hear, 1) != b"x":
            os._exit(1)
        kernel.die_with_parent(False)
        os.close(tied)
        station.sleep_for_good(f"hub of {name}")
    except OSError as error:
        os.write(say, json.dumps({"fault": error.strerror}).encode() + b"\n")
    os._exit(1)


def _write_agent(folder, graph, stations):
    """What mpirun calls in place of ssh: AGENT HOST COMMAND..., run in the hub."""
    cases = "\n".join(f"{graph.name_of(host)}) pid={stations[str(host)]} ;;" for host in range(graph.hosts))
    path = f"{folder}/agent"
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            "#!/bin/sh\n"
            "host=$1\n"
            "shift\n"
            f'case $host in\n{cases}\n*) echo "netlab: no host $host" >&2; exit 2 ;;\nesac\n'
            'exec nsenter --target "$pid" --mount --uts --ipc --net --pid -- sh -c "$*" </dev/null\n'
        )
    os.chmod(path, 0o755)
