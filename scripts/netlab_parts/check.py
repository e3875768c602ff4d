"""`netlab check`: does steering work?

Runs a routed all-to-all over UCX lanes and compares every link's counter with what the schedule puts on it.

Two jobs of different numbers of calls are subtracted, so that what belongs to no call (start, connections, the first calls) does
not count. Expected is payload; headers and acknowledgements make counters 0.5% to 1% larger, which is part of the error.
"""
import json
import os
import tempfile

from . import addresses, counters, run, state, up
from .fault import WRONG, Fault
from .loads import Loads
from .topology import ask_colltopo, colltopo

# Of a full Ethernet frame (1514 bytes as the shaper counts) TCP without time stamps carries 1460.
PAYLOAD = 1460 / 1514
CALL_S = 0.4  # how long one call should take at the bound: long enough for what small messages cost not to matter
ELEMENT = 8  # bytes
FEW, MANY = 1, 6  # timed calls
ERROR_MAX = 0.05


def check(topo, algorithm, shaping, bytes_per_peer=0):
    """Returns the report; its `good` says whether every link carried what the schedule says."""
    with tempfile.TemporaryDirectory(dir="/run", prefix="netlab-check-") as scratch:
        schedule, routes = f"{scratch}/check.sched", f"{scratch}/check.json"
        generated = json.loads(ask_colltopo(["generate", algorithm, topo, "-o", schedule, "--json"]))
        bound = json.loads(ask_colltopo(["bound", "alltoall", topo, "--json"]))
        ask_colltopo(["routes", schedule, "--on", topo, "--for", "json", "-o", routes])
        name = f"check-{os.getpid()}"
        about = up.up(name, topo, shaping, routes)
        try:
            network = state.Network(name)
            loads = Loads(schedule, len(network.graph.links))
            shard = bytes_per_peer or bound["F"] * shaping.rate * PAYLOAD * CALL_S / 8
            shard = max(1, round(shard / (ELEMENT * loads.chunks))) * ELEMENT * loads.chunks
            few, _ = _job(network, schedule, about["planes"], shard, FEW)
            many, result = _job(network, schedule, about["planes"], shard, MANY)
        finally:
            state.remove(name)
    expected = [chunks * shard / loads.chunks for chunks in loads.of_link]
    measured = [(b - a) / (MANY - FEW) for a, b in zip(few, many)]
    # A link that the schedule leaves empty may carry acknowledgements: measured against the busiest.
    errors = [abs(got - want) / (want or max(expected)) for want, got in zip(expected, measured)]
    bound_s = shard * 8 / (bound["F"] * shaping.rate * PAYLOAD)
    worst = errors.index(max(errors))
    link = network.graph.links[worst]
    return {
        "topology": about["topology"],
        "algorithm": algorithm,
        "planes": about["planes"],
        "routes": about["routes"],
        "rules": about["rules"],
        "rate_bits": shaping.rate,
        "bytes": shard,
        "chunks": loads.chunks,
        "F": bound["F"],
        "F_schedule": generated.get("F"),
        "median_ms": result["median_us"] / 1e3,
        "bound_ms": bound_s * 1e3,
        "throughput_over_bound": bound_s / (result["median_us"] / 1e6),
        "max_link_error": errors[worst],
        "mean_link_error": sum(errors) / len(errors),
        "worst_link": f"{worst}: {network.graph.name_of(link.tail)} -> {network.graph.name_of(link.head)}",
        "correct": result["correct"],
        "good": errors[worst] <= ERROR_MAX and result["correct"],
    }


def _job(network, schedule, planes, shard, calls):
    """Bytes on every link, and what colltopo-bench says."""
    bench = os.path.join(os.path.dirname(colltopo()), "colltopo-bench")
    lanes = ",".join(addresses.lane_device(plane) for plane in range(planes))
    environment = ["OMPI_MCA_coll_topo_transport=ucx", f"OMPI_MCA_coll_topo_lanes=device:{lanes}", "UCX_TLS=tcp,self"]
    environment.append("OMPI_MCA_coll_topo_verbose=1")  # says that lanes are open
    component = os.path.join(os.path.dirname(os.path.dirname(bench)), "lib", "openmpi")
    if os.path.isdir(component):
        environment.append(f"OMPI_MCA_mca_base_component_path=SYSTEM_DEFAULT:{component}")
    command = [bench, "--collective", "alltoall", "--algorithm", f"file:{schedule}", "--bytes", str(shard), "--json"]
    command += ["--check", "--warmup", "1", "--iterations", str(calls), "--pause", "0.05"]
    line, variables = run.mpirun(network, [], "tcp", environment, command)
    counters.reset(network)
    child = os.fork()
    output = f"{network.path}/tmp/check.out"
    if child == 0:
        # start() enters the network for good, and this process must stay outside.
        with open(output, "w", encoding="utf-8") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        try:
            os._exit(run.start(network.head_places(), line, variables))
        except Fault as fault:
            os.write(2, str(fault).encode())
        os._exit(WRONG)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(output, encoding="utf-8", errors="replace") as file:
        text = file.read()
    said = [row for row in text.splitlines() if "using MPI's messages" in row or "using the next component" in row]
    if status == 0 and not said and "transport ucx:" not in text:
        raise Fault(f"{network.graph.name}: coll/topo opened no UCX lanes; expected a build with libucx-dev", WRONG)
    if status != 0 or said:
        raise Fault(f"{network.graph.name}: {said[0] if said else f'mpirun: status {status}: {text.strip()[-300:]}'}", WRONG)
    # Open MPI's words may stand before it and behind it.
    said_first = text.index("{\n") if "{\n" in text else text.index("{")
    result = json.JSONDecoder().raw_decode(text, said_first)[0]["results"][0]
    return [row["bytes"] for row in counters.read(network)], result
