#!/usr/bin/env python3
"""command_test.py COLLTOPO: a command that has too little memory ends by itself, with one line and status 2.

Each is run in address spaces from what the program needs to begin up to what the command does.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

COLLTOPO = os.path.realpath(sys.argv[1])
LIMITS = 24  # of a command
COMMANDS = [
    ["--help"],
    ["tune", "--help"],
    ["topology", "torus:8x8x8"],
    ["topology", "torus:8x8", "-o", "out.json"],
    ["bound", "alltoall", "torus:4x4x4"],
    ["bound", "allgather", "dgx-a100:2"],
    ["bound", "alltoallv", "torus:4x4", "--demand", "demand.csv"],
    ["generate", "tra", "switch:64", "-o", "out.sched"],
    ["generate", "mcf", "torus:3x3x3", "-o", "out.sched"],
    ["generate", "fptas", "torus:3x3", "-o", "out.sched"],
    ["generate", "mcf-steps", "torus:3x3", "-o", "out.sched"],
    ["generate", "forest", "dgx-a100:2", "--collective", "allgather", "-o", "out.sched"],
    ["generate", "lr3", "xpander:16:4", "-o", "out.sched"],
    ["verify", "in.sched"],
    ["verify", "in.sched", "--on", "torus:4x4"],
    ["cost", "in.sched", "torus:4x4", "--bytes", "64K"],
    ["simulate", "swing", "torus:16x16", "--bytes", "1M"],
    ["simulate", "in.sched", "torus:4x4", "--bytes", "1K,1M", "--json"],
    ["draw", "in.sched", "-o", "out.svg"],
    ["draw", "torus:4x4", "-o", "out.svg"],
    ["convert", "in.sched", "--to", "msccl-xml", "-o", "out.xml"],
    ["convert", "torus:4x4", "--to", "topo-json", "-o", "out.json"],
    ["routes", "in.sched", "--for", "linux", "-o", "out.sh"],
    ["explain", "alltoall", "--ranks", "1024", "--bytes", "1K"],
    ["explain", "allreduce", "--ranks", "64", "--bytes", "1M", "--json"],
    ["prepare", "torus:3x3", "-o", "prepared"],
    ["doctor"],
]
failed = 0


def run(words, bytes_at_most=None):
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if bytes_at_most is not None:
            resource.setrlimit(resource.RLIMIT_AS, (bytes_at_most, bytes_at_most))

    return subprocess.run([COLLTOPO, *words], capture_output=True, text=True, errors="replace", timeout=120, check=False, preexec_fn=limit)


def needs(words):
    """Bytes of address space, to within a sixty-fourth of what it may be."""
    low, high = 0, 16 << 30
    while high - low > max(1 << 20, high >> 6):
        middle = (low + high) // 2
        if run(words, middle).returncode == BEST[tuple(words)]:
            high = middle
        else:
            low = middle
    return high


def look_at(words, limit):
    global failed
    done = run(words, limit)
    what = f"colltopo {' '.join(words)} in {limit / 2**20:.1f} MiB"
    said = done.stderr.splitlines()
    if done.returncode == 127:  # the program itself does not fit: the loader says so
        return
    fault = None
    if done.returncode == BEST[tuple(words)] and done.returncode == 0:
        return
    if done.returncode not in (0, 1, 2):
        fault = f"ends with {done.returncode}"
    elif done.returncode == 2 and len(said) != 1:
        fault = f"says {len(said)} lines"
    elif done.returncode != BEST[tuple(words)] and done.returncode != 2:
        fault = f"has status {done.returncode}"
    elif any(name.endswith(".draft") for name in os.listdir()):
        fault = f"leaves a draft: {os.listdir()}"
    if fault:
        failed = 1
        print(f"FAILED: {what}: {fault}: {done.stderr[-600:]!r}", flush=True)


with tempfile.TemporaryDirectory(prefix="m") as scratch:
    os.chdir(scratch)
    with open("demand.csv", "w", encoding="ascii") as file:
        file.writelines(",".join("0" if s == t else "1" for t in range(16)) + "\n" for s in range(16))
    made = run(["generate", "mcf", "torus:4x4", "-o", "in.sched"])
    assert made.returncode == 0, made.stderr
    BEST, tried = {("--version",): 0}, 0
    for command in COMMANDS:
        if len(sys.argv) > 2 and not re.match(sys.argv[2], " ".join(command)):
            continue
        BEST[tuple(command)] = run(command).returncode
        assert BEST[tuple(command)] in (0, 1), f"{command}: {run(command).stderr}"
        most = needs(command)
        floor = min(most, needs(["--version"]))  # below it libraries fail before the program begins
        for i in range(LIMITS):
            look_at(command, floor + (most - floor) * i // LIMITS)
            tried += 1
        print(f"colltopo {' '.join(command)}: needs {most / 2**20:.0f} MiB, tried from {floor / 2**20:.0f} MiB on", flush=True)
    print(f"{len(BEST) - 1} commands, {tried} limits")
    os.chdir("/")
sys.exit(failed)
