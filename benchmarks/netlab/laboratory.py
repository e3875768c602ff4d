"""What all experiments on netlab share: one network at a time, contenders under the same settings, medians, files.

An experiment is a list of networks, and for each a list of contenders. Everything is written as rows of one CSV file. Tables and
pictures are made from that, so they can be made again without measuring.
"""
import contextlib
import csv
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "scripts"))
from whole_file import replaced, written_by  # noqa: E402

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
NETLAB = os.path.join(TOP, "scripts", "netlab")
RESULTS = os.path.join(HERE, "results")
NAME = "benchmark"

# Of a full Ethernet frame (1514 bytes as the shaper counts) TCP without time stamps carries 1460.
PAYLOAD = 1460 / 1514
SETTLED = 265  # calls until who chooses has chosen: 32 by the model, up to 227 of a trial
ROOTED = {"bcast", "reduce", "gather", "scatter"}  # where ranks would run ahead of each other in a row of calls


@dataclass
class Contenders:
    """Those that one mpirun measures one after the other: name, and what colltopo-bench calls it (native, file:PATH, ...)."""

    algorithms: dict
    environment: dict = field(default_factory=dict)
    transport: str = "tcp"
    check: bool = True  # every value; for schedules of ours


@contextlib.contextmanager
def alone():
    """Only one experiment at a time: they would share processors and falsify each other."""
    with open("/run/netlab-benchmark.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    with contextlib.suppress(FileNotFoundError):
        os.unlink("/run/netlab-benchmark.lock")


def ask(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def ask_in_time(command, seconds=300, attempts=3):
    """Begins again what does not end: ranks bound to one processor that they yield may keep each other from running for minutes (Linux 6.18), with
    Open MPI alone too."""
    for _ in range(attempts):
        done = subprocess.run(["timeout", "--kill-after", "90", str(seconds), *command], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
        if done.returncode not in (124, 137):
            sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
        print(f"not ended in {seconds} s, again", flush=True)
    sys.exit(f"{' '.join(command)}: not ended in {seconds} s, {attempts} times")


def try_to_ask(command):
    """None where the command cannot do it."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def command(doc, measure, draw, *choices):
    """Does what the command line says: `measure`, `draw` or both, and of each list of choices those that it names, else all."""
    words = set(sys.argv[1:])
    if words - {"measure", "draw"}.union(*choices):
        sys.exit(doc)
    actions = words & {"measure", "draw"} or {"measure", "draw"}
    if "measure" in actions:
        with alone():
            measure(*([name for name in names if name in words] or list(names) for names in choices))
    if "draw" in actions:
        draw()


@dataclass
class Routed:
    """A schedule with its tables."""

    schedule: str  # files
    routes: str
    flow: dict  # what `generate` says
    planes: int

    def environment(self):
        """Over UCX lanes, one per plane."""
        lanes = ",".join(f"lane{plane}" for plane in range(self.planes))
        return {"OMPI_MCA_coll_topo_transport": "ucx", "OMPI_MCA_coll_topo_lanes": f"device:{lanes}", "UCX_TLS": "tcp,self"}


def routed(algorithm, topology, folder, *options):
    """None where the algorithm does not do this topology (dor off a grid)."""
    schedule, routes = f"{folder}/{algorithm}.sched", f"{folder}/{algorithm}.json"
    made = try_to_ask(["colltopo", "generate", algorithm, topology, "-o", schedule, "--json", *options])
    if made is None:
        return None
    tables = ["colltopo", "routes", schedule, "--on", topology, "--for", "json", "-o", routes, "--json"]
    return Routed(schedule, routes, json.loads(made), json.loads(ask(tables))["planes"])


def run_command(transport, environment):
    """The beginning of a command that runs another on the network that is up."""
    command = [NETLAB, "run", "--name", NAME, "--transport", transport]
    for name, value in environment.items():
        command += ["--env", f"{name}={value}"]
    return [*command, "--"]


def on_processors():
    """What to put before a program for its ranks to stay on this machine's processors by turns, as ranks of a real job each stay on one of
    their own: where the kernel places them, ratios of times of 100 to 400 us differ twice as much from job to job (2% to 6% instead of 1% to 3%)."""
    return ["sh", "-c", f'exec taskset -c $((OMPI_COMM_WORLD_RANK % {os.cpu_count()})) "$@"', "sh"]


def machine_command(nodes, ranks, environment):
    """The same of a job on this machine alone, its messages as Open MPI sends them; more than one node is made up."""
    command = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "--map-by", "slot:oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
    if nodes > 1:
        hosts = ",".join(f"node{node}:{ranks // nodes}" for node in range(nodes))
        command += ["--mca", "plm_rsh_agent", os.path.join(TOP, "tests", "mpi", "fakersh"), "--host", hosts]
    for name, value in environment.items():
        command += ["-x", f"{name}={value}"]
    return [*command, "-np", str(ranks)]


@contextlib.contextmanager
def network(topo, *options):
    """A network that is up; gives what `netlab up` says of it."""
    subprocess.run([NETLAB, "down", "--name", NAME], capture_output=True, check=False)
    about = json.loads(ask([NETLAB, "up", topo, "--name", NAME, "--json", *options]))
    try:
        yield about
    finally:
        ask([NETLAB, "down", "--name", NAME])


def _busy(seconds=1.0):
    """Share of the processors that others use: nothing of ours runs yet."""

    def ticks():
        with open("/proc/stat", encoding="ascii") as file:
            fields = list(map(int, file.readline().split()[1:9]))
        return sum(fields), fields[3] + fields[4]  # all, idle

    before = ticks()
    time.sleep(seconds)
    after = ticks()
    return 1 - (after[1] - before[1]) / max(1, after[0] - before[0])


def busy_when_started():
    """Waits for a quiet machine as long as NETLAB_WAIT (seconds, default 0) allows; what others used at the end of that."""
    end = time.monotonic() + float(os.environ.get("NETLAB_WAIT", "0"))
    busy = _busy()
    while busy > 0.1 and time.monotonic() < end:
        time.sleep(5)
        busy = _busy()
    return busy


def links():
    return json.loads(ask([NETLAB, "bytes", "--name", NAME, "--drops", "--json"]))["links"]


def measure(contenders, collective, sizes, iterations, warmup=1, seconds=400, more=()):
    """Rows of these contenders on the network that is up; none where they fail or do not end in time."""
    names = ", ".join(contenders.algorithms)
    ask([NETLAB, "bytes", "--name", NAME, "--reset"])
    command = run_command(contenders.transport, contenders.environment)
    command += ["colltopo-bench", "--collective", collective, "--algorithm", ",".join(contenders.algorithms.values())]
    command += ["--bytes", ",".join(map(str, sizes)), "--iterations", str(iterations), "--warmup", str(warmup), "--pause", "0.05", "--json"]
    command += [*more, *(["--check"] if contenders.check else [])]
    busy = busy_when_started()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        print(f"  {names}: not ended after {seconds} s", flush=True)
        return []
    if done.returncode != 0 or "using MPI's messages" in done.stderr:
        print(f"  {names}: {done.stderr.strip() or done.stdout.strip()}", flush=True)
        return []
    drops = sum(link["drops"] for link in links())
    rows = []
    for result in json.loads(done.stdout)["results"]:
        name = next(name for name, algorithm in contenders.algorithms.items() if algorithm == result["algorithm"])
        row = {"contender": name, "transport": contenders.transport, "bytes": result["bytes"], "iterations": iterations}
        row |= {"median_ms": result["median_us"] / 1e3, "p10_ms": result["p10_us"] / 1e3, "p90_ms": result["p90_us"] / 1e3}
        row |= {"drops": drops, "others_busy": round(busy, 2)}
        rows.append(row)
    for name in contenders.algorithms:
        shown = ", ".join(f"{row['bytes']}: {row['median_ms']:.0f} ms" for row in rows if row["contender"] == name)
        print(f"  {name:28} {shown}; drops {drops}, others used {busy:.0%}", flush=True)
    return rows


def bench(command, collective, size, calls, *options, warmup=5):
    """What colltopo-bench, run by `command`, says of calls in a row, or that begin together where there is a root; values checked: a list of results."""
    command = [*command, "colltopo-bench", "--collective", collective, "--bytes", str(size), "--iterations", str(calls)]
    command += ["--together"] if collective in ROOTED else []
    return json.loads(ask_in_time([*command, "--warmup", str(warmup), *options, "--check", "--json"]))["results"]


def transform(command, grid, exchange="alltoall"):
    """What colltopo-fft3d, run by `command`, says of a transform in slabs; ends the experiment where values are wrong."""
    command = [*command, "colltopo-fft3d", "--grid", grid, "--decomposition", "slab", "--exchange", exchange]
    said = json.loads(ask([*command, "--iterations", "5", "--warmup", "1", "--verify", "--json"], timeout=300))
    if not said["correct"]:
        sys.exit(f"{grid}: the transform is wrong: {said}")
    return said


def write_rows(path, rows):
    os.makedirs(RESULTS, exist_ok=True)
    with replaced(path, encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.4g}" if isinstance(value, float) else value for key, value in row.items()})


def read_rows(path):
    """None yet where there is no file."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def draw(path, panels, columns, xlabel, ylabel, more=""):
    """An SVG of panels: (title, [(name, [(x, y)])]) each, all contenders in one colour throughout."""
    names = sorted({name for _, curves in panels for name, _ in curves})
    rows = -(-len(panels) // columns)
    with tempfile.TemporaryDirectory() as scratch:
        lines = [
            f"set terminal svg size {420 * columns},{340 * rows} font 'sans,12' background 'white'",
            "set grid",
            f"set xlabel '{xlabel}'",
            f"set ylabel '{ylabel}'",
            more,
            f"set multiplot layout {rows},{columns}",
        ]
        for number, (title, curves) in enumerate(panels):
            plots = []
            for name, points in curves:
                data = os.path.join(scratch, f"{number}-{names.index(name)}")
                with open(data, "w", encoding="ascii") as file:
                    file.writelines(f"{x} {y}\n" for x, y in points)
                style = f"linespoints linetype {names.index(name) + 1}"
                if name == "bound":
                    style = "lines dashtype 2 linecolor 'black'"
                plots.append(f"'{data}' with {style} linewidth 1.5 title '{name}'")
            lines += [f"set title '{title}'", "plot " + ", ".join(plots)]
        written_by(["gnuplot"], path, input="\n".join(lines), text=True)


def settings():
    """The line that every table carries."""
    return (
        f"{time.strftime('%Y-%m-%d', time.gmtime())}, kernel {os.uname().release}, {os.cpu_count()} cores; every contender with "
        "pml ob1, btl tcp, no rendezvous (btl_tcp_flags 1, eager up to 4 MB), yield when idle; values checked"
    )
