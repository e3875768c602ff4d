"""The torus of scripts/demo: sixteen hosts, two programs, first by Open MPI alone and then with one variable set.

    torus.py BUILD FOLDER [--short]

The network lives in `netlab box`: namespaces of processes that the kernel ends when this one ends, however it ends. Every job has
a limit of time, and so has the box. Where the machine has no namespaces for us, the other demo (nodes) takes its place.
"""
import json
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from demo_parts import chart, report  # noqa: E402
from demo_parts.setting import LONG, SHORT, TOPOLOGY, VARIABLE  # noqa: E402
from netlab_parts import kernel  # noqa: E402
from whole_file import replaced  # noqa: E402

HERE = os.path.dirname(os.path.realpath(__file__))
NETLAB = os.path.join(os.path.dirname(HERE), "netlab")
CANNOT = 77


def ask(*command):
    done = subprocess.run(["colltopo", *command], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        sys.exit(f"demo: colltopo {' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measured(size, folder, schedule):
    """What the jobs in the box said: {"native": ..., "topo": ...}; None where this machine cannot make a network."""
    command = [NETLAB, "box", TOPOLOGY, "--hash", "--rate", f"{size.rate_mbit}mbit", "--", sys.executable, f"{HERE}/jobs.py"]
    command += [folder, schedule, "short" if size is SHORT else "long"]
    # netlab becomes the box: the jobs in it notice by the pipe when this process dies, and when they end, the kernel ends all.
    with open(f"{folder}/errors.txt", "w+", encoding="utf-8") as errors:
        box = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=errors)
        try:
            box.wait(timeout=size.limit_s)
        except subprocess.TimeoutExpired:
            box.kill()
            sys.exit(f"demo: the jobs have not ended after {size.limit_s} s; a machine with two cores that are free takes a sixth of that")
        except BaseException:
            box.kill()
            raise
        errors.seek(0)
        said = [line for line in errors.read().splitlines() if not line.startswith(f"{TOPOLOGY}: up")]
    if box.returncode == CANNOT:
        print("\n".join(said), flush=True)
        return None
    if box.returncode != 0:
        sys.exit("\n".join(["demo: the jobs failed:", *said]))
    with open(f"{folder}/results.json", encoding="utf-8") as file:
        return json.load(file)


def main(build, folder, short):
    size = SHORT if short else LONG
    os.environ["PATH"] = f"{build}/bin:{os.environ['PATH']}"
    os.environ["OMPI_MCA_mca_base_component_path"] = f"SYSTEM_DEFAULT:{build}/lib/openmpi"
    os.environ["PMIX_MCA_mca_base_component_path"] = f"{build}/lib/no-components"
    if folder.startswith("/run/"):
        sys.exit(f"demo: {folder}: cannot be seen from the network, which has a /run of its own; expected another folder")
    os.makedirs(folder, exist_ok=True)
    began = time.monotonic()
    schedule = f"{folder}/alltoall.sched"
    ask("generate", "mcf-steps", TOPOLOGY, "-o", schedule, "--json")
    bound = ask("bound", "alltoall", TOPOLOGY, "--json")
    print(f"16 hosts on {TOPOLOGY}, links of {size.rate_mbit} Mbit/s; every job by Open MPI alone and with one variable set:", flush=True)
    runs = measured(size, folder, schedule)
    if runs is None:
        print("demo: so no network can be made here; two made-up nodes instead: their messages are a cluster's, their times are not", flush=True)
        os.execv(f"{HERE}/nodes", [f"{HERE}/nodes", build])
    result = report.result_of(size, bound, runs, f"{VARIABLE}=file:{schedule}")
    with replaced(f"{folder}/demo.json", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
    picture = chart.write(result, runs, folder)
    print(report.text_of(result, picture, time.monotonic() - began, build))
    return 0 if result["good"] else 1


if __name__ == "__main__":
    kernel.die_with_parent(True)  # of the script, so that nothing goes on where that is killed
    sys.exit(main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), "--short" in sys.argv[3:]))
