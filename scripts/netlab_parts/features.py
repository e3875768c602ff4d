"""What this kernel has, found out by making each object for real in a network namespace that is gone afterwards."""
import os
import subprocess

from . import kernel
from .fault import CANNOT, Fault

# (name, commands that make it on the veth t0, what netlab uses it for, what it uses where it is missing)
TRIALS = (
    ("veth", ["ip link add t2 type veth peer name t3"], "cables", None),
    ("bridge", ["ip link add t2 type bridge"], "switches, management network", None),
    ("htb", ["tc qdisc add dev t0 root handle 1: htb"], "link rate", None),
    ("tbf", ["tc qdisc add dev t0 root tbf rate 1mbit burst 5k limit 10k"], "--shaper tbf", "--shaper htb"),
    ("bfifo", ["tc qdisc add dev t0 root bfifo limit 10k"], "queues of a size in bytes", None),
    (
        "u32",
        [
            "tc qdisc add dev t0 root handle 1: htb",
            "tc filter add dev t0 parent 1: protocol ip prio 1 u32 match u32 0 0 flowid 1:1",
        ],
        "acknowledgements first",
        None,
    ),
    ("netem", ["tc qdisc add dev t0 root netem delay 1ms"], "--delay", "a process that carries frames between taps"),
    ("tap", ["ip tuntap add dev t2 mode tap"], "--delay where there is no netem", "netem, else --delay is refused"),
    ("dummy", ["ip link add t2 type dummy"], "devices that carry lane addresses", "ifb, else one end of a veth pair"),
    ("ifb", ["ip link add t2 type ifb"], "devices that carry lane addresses", "dummy, else one end of a veth pair"),
    (
        "rules",
        ["ip rule add from 10.9.9.9 to 10.9.9.8 lookup 1000"],
        "routes that share no plane",
        "nothing: such routes are refused",
    ),
)
NEEDED = ("veth", "bridge", "htb", "bfifo", "u32")


def _in_scratch_network(work):
    """Runs work() in a child with a network namespace of its own; True if it returned True. None: no namespace."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            kernel.unshare(kernel.NET)
            status = 0 if work() else 1
        except OSError:
            status = 2
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return None if status == 2 else status == 0


def _works(commands):
    def work():
        first = ["ip link add t0 type veth peer name t1"]
        return all(
            subprocess.run(command.split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0
            for command in first + commands
        )

    return _in_scratch_network(work)


def has(name):
    return bool(next(_works(commands) for trial, commands, _, _ in TRIALS if trial == name))


def stub():
    """The kind of device that carries a lane's address: one that is up without a cable."""
    return next((kind for kind in ("dummy", "ifb") if has(kind)), "veth")


_BOX = ("--fork", "--kill-child", "--mount-proc")


def _runs(command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def user_namespaces():
    """Whether an ordinary user can have a network of their own."""
    return _runs(["unshare", "-Urnmp", *_BOX, "true"])


def box_command():
    """What runs a command in namespaces that end with it: root needs no user namespace; None where neither is permitted."""
    kinds = (["-nmp"] if os.geteuid() == 0 else []) + ["-Urnmp"]
    return next((["unshare", kind, *_BOX] for kind in kinds if _runs(["unshare", kind, *_BOX, "true"])), None)


def delay_by(delay_us):
    """Who delays what crosses a link: the kernel's netem, a process (wire.py), or nobody."""
    if not delay_us:
        return "nobody"
    return "netem" if has("netem") else "wire"


def require(shaper, delay_by, rules):
    """Refuses what this kernel cannot do, before anything is made."""
    if _in_scratch_network(lambda: True) is None:
        raise Fault(
            "network namespaces are not permitted here; expected root (CAP_SYS_ADMIN); `netlab box TOPO -- COMMAND` works "
            "without where user namespaces are allowed",
            CANNOT,
        )
    wanted = [*NEEDED, *(["tbf"] if shaper == "tbf" else [])]
    for name in wanted:
        if not has(name):
            raise Fault(f"this kernel ({os.uname().release}) has no {name}; no network without it", CANNOT)
    if delay_by == "wire" and not has("tap"):
        raise Fault(
            f"this kernel ({os.uname().release}) has neither netem nor tap devices, so --delay cannot be had; without it the "
            "delay of a link is that of its queue",
            CANNOT,
        )
    if rules and not has("rules"):
        raise Fault("this kernel has no policy routing, which the routes without room in a plane need", CANNOT)


def table():
    """Rows of (feature, present, used for, used instead)."""
    rows = [
        {"feature": name, "present": bool(_works(commands)), "used_for": purpose, "instead": instead or "nothing: needed"}
        for name, commands, purpose, instead in TRIALS
    ]
    rows.append(
        {
            "feature": "user namespaces",
            "present": user_namespaces(),
            "used_for": "netlab box and netlab check without root",
            "instead": "root",
        }
    )
    return rows
