#!/usr/bin/env python3
"""Jobs of the conformance program that meet a fault; each must end as the fault's row says, in a bounded time.

  faults_test.py BUILD PART      PART: killed stopped files disk limits stacked
"""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
from conformance_parts import settings as table  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
program = build / "bin" / "conformance.openmpi"
run = SOURCE / "tests" / "mpi" / "run.sh"
KINDS = ["bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce",
         "allreduce", "reduce_scatter", "reduce_scatter_block"]
NEIGHBOURS = ["neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"]
OTHERS = ["barrier", "scan", "exscan", "messages"]
LEAVE = ["stock-4.1", *table.WAITS]
SERVED = [word for name, row in table.forced(1).items() for word in ("--mca", f"coll_topo_{name}", row)]
failed, cases = 0, 0


def expect(fact, what):
    global failed, cases
    cases += 1
    if not fact:
        failed = 1
        print(f"FAILED: {what}", file=sys.stderr, flush=True)


def conformance(*arguments, leave=()):
    return [str(program), "--bytes", "20000", "--patience", "60", "--leave", ",".join([*LEAVE, *leave]), *map(str, arguments)]


def job(nodes, ranks, options, words, seconds=100, before=(), environment=None):
    """(exit status, output) of a job; None: it was not over in time."""
    command = [*before, str(run), str(build), str(nodes), str(ranks), *options, *words]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True, env=dict(os.environ, **(environment or {})))
    try:
        output, _ = started.communicate(timeout=seconds)
        return started.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        return None, started.communicate()[0]


def right(what, outcome):
    status, output = outcome
    good = status == 0 and any(line.startswith('{"seed"') for line in output.splitlines())
    expect(good, f"{what}: status {status}: {output[-1500:]}")


def children_of(pid, name):
    """Processes of that program below `pid`."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        try:
            below = pathlib.Path(f"/proc/{one}/task/{one}/children").read_text().split()
        except OSError:
            continue
        for child in map(int, below):
            waiting.append(child)
            try:
                if os.path.basename(os.readlink(f"/proc/{child}/exe")) == name:
                    found.append(child)
            except OSError:
                pass
    return found


def send(pid, what):
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        pass


def with_victims(leave, scratch, act, ranks=3, options=()):
    """Starts an endless job, and calls act(pids) once it has all its processes and has run for a moment."""
    words = [str(run), str(build), "1", str(ranks), "--mca", "orte_tmpdir_base", scratch, "--mca", "btl_vader_backing_directory", scratch,
             *SERVED, *options, *conformance("--seed", 3, "--operations", 10000000, leave=leave)]
    started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    deadline, pids = time.monotonic() + 60, []
    while time.monotonic() < deadline and len(pids) < ranks:
        time.sleep(0.2)
        pids = children_of(started.pid, program.name)
    time.sleep(1.5)
    act(pids)
    begin = time.monotonic()
    try:
        started.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        return None, pids
    return time.monotonic() - begin, pids


def runs(pid):
    """Whether a process is there and is not merely waiting for its parent's question."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def killed():
    """One rank is stopped, so that the others wait for it inside of their calls; then one of those is killed."""
    def act(pids):
        send(pids[0], signal.SIGSTOP)
        time.sleep(0.5)
        send(pids[-1], signal.SIGKILL)
        send(pids[0], signal.SIGCONT)

    for form in ("blocking", "nonblocking", "persistent"):
        for kind in [*KINDS, "neighbor_alltoallv"]:
            leave = [other for other in [*KINDS, *NEIGHBOURS, *OTHERS] if other != kind]
            leave += [other for other in ("nonblocking", "persistent") if other != form]
            with tempfile.TemporaryDirectory(prefix="f") as scratch:
                seconds, pids = with_victims(leave, scratch, act)
                expect(seconds is not None and seconds < 15, f"SIGKILL in {form} {kind}: not over after {seconds} s")
                deadline = time.monotonic() + 5
                while any(map(runs, pids)) and time.monotonic() < deadline:
                    time.sleep(0.1)
                expect(len(pids) == 3 and not [pid for pid in pids if runs(pid)], f"SIGKILL in {form} {kind}: processes are left")
                left = [str(path) for path in pathlib.Path(scratch).rglob("*") if path.is_file()]
                expect(not left, f"SIGKILL in {form} {kind}: files are left: {left}")


def stopped():
    """SIGSTOP of one rank for some seconds: the job goes on and is right."""
    for form in ("blocking", "nonblocking", "persistent"):
        leave = [other for other in ("nonblocking", "persistent") if other != form]
        words = [str(run), str(build), "1", "3", *SERVED, *conformance("--seed", 9, "--operations", 1500, leave=leave)]
        started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                   start_new_session=True)
        stops = 0
        for _ in range(3):
            time.sleep(1)
            for pid in children_of(started.pid, program.name)[:1]:
                send(pid, signal.SIGSTOP)
                time.sleep(3)
                send(pid, signal.SIGCONT)
                stops += 1
        try:
            output, _ = started.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            output, _ = started.communicate()
        expect(stops > 0, f"SIGSTOP in {form} calls: the job was over before it was stopped")
        right(f"SIGSTOP in {form} calls", (started.returncode, output))


def spoil(path, how):
    data = path.read_bytes()
    path.unlink()
    if how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(data[:len(data) // 2])
    elif how == "other":
        path.write_bytes(data.replace(b"1", b"2").replace(b"linear", b"pairwise"))
    elif how == "a folder":
        path.mkdir()
    elif how == "bytes":
        path.write_bytes(bytes(range(256)) * 20)


def files():
    """Each file of a job is right on three hosts and not on the fourth."""
    colltopo = str(build / "bin" / "colltopo")
    for name in ("net.json", "rules.json", "one.sched", "hosts", "decisions"):
        for how in ("missing", "empty", "cut", "other", "a folder", "bytes"):
            with tempfile.TemporaryDirectory(prefix="f") as scratch:
                for side in ("here", "there"):
                    folder = pathlib.Path(scratch) / side
                    folder.mkdir()
                    subprocess.run([colltopo, "topology", "torus:2x2", "-o", folder / "net.json"], check=True, capture_output=True)
                    subprocess.run([colltopo, "generate", "linear", "torus:2x2", "-o", folder / "one.sched"], check=True, capture_output=True)
                    (folder / "rules.json").write_text(table.rule("allreduce", "ring"))
                    (folder / "hosts").write_text("node1\nnode2\nnode3\nnode4\n")
                    (folder / "decisions").write_text("")
                spoil(pathlib.Path(scratch) / "there" / name, how)
                options = ["--mca", "coll_topo_topology", "net.json", "--mca", "coll_topo_hosts", "hosts", "--mca", "coll_topo_rules", "rules.json",
                           "--mca", "coll_topo_decisions", "decisions", "--mca", "coll_topo_alltoall_algorithm", "file:one.sched"]
                inner = " ".join(map(shlex.quote, conformance("--seed", 4, "--operations", 25)))
                words = ["sh", "-c", f'cd {scratch}/here; [ "$OMPI_COMM_WORLD_RANK" != 3 ] || cd {scratch}/there; exec {inner}']
                right(f"{name} {how} on one rank", job(4, 4, options, words))


def disk():
    """Files of decisions on a full disk: the job goes on, and what was there is whole."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        print("SKIP: no right to mount here")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="f") as scratch:
        for blocks in (4, 8, 16):
            told = pathlib.Path(scratch) / "kept"
            words = " ".join(map(shlex.quote, [str(run), str(build), "1", "2", "--mca", "coll_topo_decisions", f"{scratch}/disk/decisions",
                                               "--mca", "coll_topo_trial_after", "1", *conformance("--seed", 5, "--operations", 60)]))
            script = (f"mkdir -p {scratch}/disk && mount -t tmpfs -o size={blocks}k none {scratch}/disk && "
                      f"printf '# a comment of the user\\n' > {scratch}/disk/decisions && "
                      f"dd if=/dev/zero of={scratch}/disk/rest bs=1k count=1000 2>/dev/null; {words}; s=$?; cp {scratch}/disk/decisions {told}; exit $s")
            started = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=200)
            right(f"a full disk of {blocks} KiB", (started.returncode, started.stdout + started.stderr))
            expect(told.exists() and told.read_text().startswith("# a comment of the user\n") and told.read_text().endswith("\n"),
                   f"a full disk of {blocks} KiB: the file of decisions is {told.read_text() if told.exists() else 'gone'!r}")
        words = " ".join(map(shlex.quote, [str(run), str(build), "1", "3", *SERVED, *conformance("--seed", 6, "--operations", 60)]))
        script = f"mount -t tmpfs -o ro,size=4k none /dev/shm && {words}"
        started = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=200)
        right("nothing can be written in /dev/shm", (started.returncode, started.stdout + started.stderr))


def limits():
    for what in ("-s 128", "-s 256", "-s 512", "-n 32", "-n 64", "-v 600000", "-f 100000"):
        inner = " ".join(map(shlex.quote, conformance("--seed", 7, "--operations", 60)))
        right(f"ulimit {what}", job(1, 3, SERVED, ["sh", "-c", f"ulimit {what} && exec {inner}"]))
    for variables in ({"HOME": ""}, {"HOME": "/nowhere"}, {"XDG_CACHE_HOME": "/dev/null"}, {"LC_ALL": "tr_TR.UTF-8"}, {"MALLOC_PERTURB_": "165"},
                      {"TMPDIR": "/tmp"}):
        right(f"{variables}", job(1, 3, SERVED, conformance("--seed", 8, "--operations", 60), environment=variables))


def stacked():
    """Beside and below other components: right wherever it is right without coll/topo."""
    combinations = [["--mca", f"coll_{other}_priority", str(priority)] for other in ("han", "adapt", "libnbc", "sync", "tuned")
                    for priority in (55, 65)]
    combinations += [["--mca", "coll", "topo,basic,libnbc,self"], ["--mca", "coll", "^tuned"],
                     ["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_allreduce_algorithm", "4"],
                     ["--mca", "coll_han_priority", "65", "--mca", "coll_adapt_priority", "62"]]
    # What Open MPI gets wrong where coll/topo leaves a communicator to a component above it.
    defects = ["empty-types", "early-free", "shifted-reductions", "mixed-types",
               *(f"in-place:{call}:{form}" for call in ("alltoallv", "alltoallw") for form in ("nonblocking", "persistent"))]
    for nodes, ranks in ((1, 3), (2, 4)):
        for options in combinations:
            if "topo,basic,libnbc,self" in options:
                alone = ["--mca", "coll", "basic,libnbc,self"]
            elif "^tuned" in options:
                alone = ["--mca", "coll", "^topo,tuned"]
            else:
                alone = [*options, "--mca", "coll", "^topo"]
            what = f"{' '.join(options)} on {nodes} nodes"
            for leave in ([], defects):
                words = conformance("--seed", 11, "--operations", 40, "--patience", 25, leave=leave)
                outcome = job(nodes, ranks, options, words)
                if outcome[0] == 0 or job(nodes, ranks, alone, words)[0] == 0:
                    break
                print(f"{what}: wrong without coll/topo, too{', though defects are left out' if leave else ''}", flush=True)
                outcome = None
            if outcome is not None:
                right(what, outcome)


if not program.exists():
    print("SKIP: no conformance program in this build")
    sys.exit(77)
{"killed": killed, "stopped": stopped, "files": files, "disk": disk, "limits": limits, "stacked": stacked}[sys.argv[2]]()
print(json.dumps({"part": sys.argv[2], "checks": cases, "failed": failed}))
sys.exit(failed)
