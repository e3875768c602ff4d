"""`netlab run` and `netlab exec`: programs inside a network.

mpirun runs on the head, which is no host, and starts its daemons through the network's agent. What it starts dies with it,
and it dies with `netlab run`.
"""
import os
import re
import signal
import subprocess

from . import addresses, kernel
from .fault import Fault

# Open MPI thinks that every host has the machine's cores to itself, so waiting ranks would never give way.
_ALWAYS = (
    ("plm", "^slurm"),  # ssh's, in place of which the agent stands, has another name since 5.0
    ("plm_rsh_no_tree_spawn", "1"),
    ("plm_rsh_num_concurrent", "64"),
    ("oob_tcp_if_include", addresses.MANAGEMENT_NETWORK),
    ("oob_tcp_disable_ipv6_family", "1"),
    ("mpi_yield_when_idle", "1"),
)

# The settings under which contenders are compared: no rendezvous, because its answers wait behind the data of the other
# direction in the same TCP connection, which halves the rate of a link that is used both ways.
_EAGER = "4000000"
TRANSPORTS = {
    "tcp": (
        ("pml", "ob1"),
        ("btl", "tcp,vader,self"),
        ("btl_tcp_if_include", addresses.lane_device(0)),
        ("btl_tcp_disable_family", "6"),
        ("btl_tcp_flags", "1"),
        ("btl_tcp_eager_limit", _EAGER),
        ("btl_tcp_rndv_eager_limit", _EAGER),
    ),
    "ucx": (("pml", "ucx"), ("osc", "^ucx"), ("pml_ucx_tls", "any"), ("pml_ucx_devices", "any")),
}
# Since 5.0 Open MPI would ask the kernel for routes, which lead over cables and not lanes; there mpirun has a `reachable` of its own, for
# which it takes that on its command line.
_BY_ENVIRONMENT = {"OMPI_MCA_reachable": "weighted"}
UCX = {
    "UCX_TLS": "tcp,self",  # UCX would otherwise see that all hosts are one machine and copy memory
    "UCX_NET_DEVICES": addresses.lane_device(0),
    "UCX_RNDV_THRESH": "inf",
}


def mpirun(network, ranks, transport, environment, command):
    """The command line of mpirun and the environment that goes with it. Ranks go to hosts in turn: `ranks` has none (one per host), one
    number, or one for each host."""
    hosts = [host for host in range(network.graph.hosts) if host not in network.dead()]
    if not hosts:
        raise Fault(f"{network.name}: all hosts have been killed", 1)
    total = sum(ranks) or len(hosts)
    slots = ranks if len(ranks) > 1 else [-(-total // len(hosts))] * len(hosts)
    if len(slots) != len(hosts) or not any(slots):
        raise Fault(f"-np {','.join(map(str, ranks))}: expected a number of ranks, or one for each of the {len(hosts)} hosts")
    # A line for each rank: where hosts have different numbers, 5.0's `--map-by node` starts all and never ends, and its `--rank-by node`
    # leaves numbers out.
    places = [host for turn in range(max(slots)) for host, number in zip(hosts, slots) if turn < number][:total]
    with open(f"{network.path}/hostfile", "w", encoding="utf-8") as file:
        file.writelines(f"{network.graph.name_of(host)}\n" for host in places)
    line = ["mpirun.openmpi", "-np", str(total), "--hostfile", f"{network.path}/hostfile", "--map-by", "seq", "--bind-to", "none"]
    line += ["--allow-run-as-root"] if os.geteuid() == 0 else []
    settings = _ALWAYS + TRANSPORTS[transport]
    settings += (("plm_rsh_agent", f"{network.path}/agent"), ("orte_tmpdir_base", f"{network.path}/tmp"))
    for name, value in settings:
        line += ["--mca", name, value]
    variables = dict(UCX) if transport == "ucx" else {"UCX_TLS": UCX["UCX_TLS"]}
    for text in environment:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Fault(f"--env {text}; expected NAME=VALUE")
        variables[name] = value
    for name in variables:
        line += ["-x", name]
    knowledge = {
        "OMPI_MCA_coll_topo_topology": f"{network.path}/topology.json",
        "TMPDIR": f"{network.path}/tmp",
    }
    return line + _not_at_once(command), {**knowledge, **_BY_ENVIRONMENT, **os.environ, **variables, "TMPDIR": knowledge["TMPDIR"]}


def _not_at_once(command):
    """Since Open MPI 5.0 mpirun sometimes waits for ever for a program that ends before all of its daemons are at work."""
    said = subprocess.run(["mpirun.openmpi", "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"\(Open MPI\) (\d+)", said)
    if not version or int(version[1]) < 5:
        return list(command)
    return ["sh", "-c", 'sleep 0.2; exec "$@"', "sh", *command]


def run(network, ranks, transport, environment, command):
    line, variables = mpirun(network, ranks, transport, environment, command)
    return start(network.head_places(), line, variables)


def execute(network, node, command):
    return start(network.places(node), list(command), dict(os.environ))


def start(places, line, variables):
    """Runs a command in namespaces and waits for it; its status as a shell gives it. It dies with this process."""
    here = os.getcwd()

    def child():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        kernel.die_with_parent(True)
        kernel.enter(places, ["net", "uts", "ipc", "mnt"])
        try:
            os.chdir(here)
        except OSError:
            os.chdir("/")

    # Entering a process namespace counts for children; the child enters the others itself.
    kernel.enter(places, ["pid"])
    # An interrupt from the terminal reaches the child too: it ends its job, and this process waits for that.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(line, env=variables, preexec_fn=child)
    except (OSError, subprocess.SubprocessError) as error:
        raise Fault(f"{line[0]}: {getattr(error, 'strerror', None) or 'the network went down'}; nothing was run") from error
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        status = process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return 128 - status if status < 0 else status
