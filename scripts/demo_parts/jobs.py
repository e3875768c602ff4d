"""Inside the box: the jobs, one after the other, and the bytes that crossed every link in each.

    jobs.py FOLDER SCHEDULE short|long      leaves FOLDER/results.json

Standard input is a pipe from who asked for the jobs. When it closes, nobody waits for them any more, and this process ends, and with it
the box: a signal at the parent's death would be lost where the box gets privileges of its own.
"""
import json
import os
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from demo_parts.setting import LONG, SHORT, VARIABLE  # noqa: E402
from whole_file import replaced  # noqa: E402

NETLAB = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "netlab")
JOB_LIMIT_S = 150


def end_with_who_asked():
    while os.read(0, 4096):
        pass
    os._exit(1)


def run(command, environment):
    """A job's JSON and bytes per link."""
    line = [NETLAB, "run"]
    for name, value in environment.items():
        line += ["--env", f"{name}={value}"]
    subprocess.run([NETLAB, "bytes", "--reset"], check=True)
    try:
        done = subprocess.run([*line, "--", *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=JOB_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"{command[0]} has not ended after {JOB_LIMIT_S} s; expected some seconds")
    if done.returncode != 0 or not done.stdout.strip().startswith("{"):
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    links = subprocess.run([NETLAB, "bytes", "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(done.stdout), [link["bytes"] for link in json.loads(links)["links"]]


def main(folder, schedule, kind):
    threading.Thread(target=end_with_who_asked, daemon=True).start()
    size = SHORT if kind == "short" else LONG
    variable = {VARIABLE: f"file:{schedule}"}
    # Both programs check values first, which warms up too.
    transform = ["colltopo-fft3d", "--grid", size.grid, "--decomposition", "slab", "--transform", "c2c"]
    transform += ["--iterations", str(size.iterations), "--warmup", "0", "--verify", "--json"]
    alltoall = ["colltopo-bench", "--collective", "alltoall", "--algorithm", "set", "--bytes", str(size.shard), "--pause", "0.05"]
    alltoall += ["--iterations", str(size.iterations), "--warmup", "0", "--check", "--json"]
    results = {}
    for name, environment, what in (("native", {"OMPI_MCA_coll": "^topo"}, "Open MPI alone"), ("topo", variable, "with the variable")):
        print(f"  {what}: a 3D transform ...", end="", flush=True)
        fft, _ = run(transform, environment)
        print(f" {fft['total_s'] * 1e3:.0f} ms; an all-to-all ...", end="", flush=True)
        bench, links = run(alltoall, environment)  # of the transform, the check by rank 0 would be in it
        exchange = bench["results"][0]
        print(f" {exchange['median_us'] / 1e3:.0f} ms", flush=True)
        results[name] = {"transform": fft, "alltoall": exchange, "links": links}
    with replaced(f"{folder}/results.json", encoding="utf-8") as file:
        json.dump(results, file)


main(*sys.argv[1:])
