#!/usr/bin/env python3
"""The conformance test has teeth: a library that spoils one bit, one contribution, one gap or one send buffer is found, the
report names the call, the rank and the byte, the replay fails too, and the shortest case is one operation.

  teeth_test.py BUILD
"""
import os
import pathlib
import re
import sys

source = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(source / "scripts"))
from conformance_parts import jobs as runs  # noqa: E402
from conformance_parts import settings  # noqa: E402
from conformance_parts.shrink import Shrink  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
spoiler = next(build.rglob("libconformance_corrupt.so"), None)
if spoiler is None:
    print("SKIP: no Open MPI here")
    sys.exit(77)

LEAVE = "early-free,empty-types,edgeless-zero,nonblocking,persistent,neighbor_alltoall,neighbor_alltoallv,neighbor_alltoallw"
CASES = {  # what is spoilt: the kinds of calls of the run, and what the report must say
    "flip": ("alltoall", r"MPI_Alltoall on .*: rank \d+ there: receive buffer: byte -?\d+, element \d+ of the block of rank \d+, is 0x[0-9a-f]{2}; "
                         r"expected 0x[0-9a-f]{2}; 1 bytes differ"),
    "lost": ("allreduce", r"MPI_Allreduce on .*MPI_SUM: rank \d+ there: receive buffer: byte -?\d+, element \d+ of the result, is "),
    "gap": ("allgather", r"MPI_Allgather on .*: receive buffer: byte -?\d+, a gap, is 0x[0-9a-f]{2}; expected 0x[0-9a-f]{2}; 1 bytes differ"),
    "sent": ("gather", r"MPI_Gather on .*: send buffer: byte -?\d+, element \d+ of what rank \d+ has for others, is "),
}
KINDS = ["barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw",
         "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan", "neighbor_allgather", "neighbor_allgatherv",
         "messages"]
failed = 0


def expect(fact, what):
    global failed
    if not fact:
        failed = 1
        print(f"FAILED: {what}", file=sys.stderr)


jobs = runs.Jobs(build)
setting = settings.Setting("teeth", parameters={"alltoall_algorithm": "linear", "allreduce_algorithm": "ring",
                                                "allgather_algorithm": "bruck", "gather_algorithm": "binomial"})
for spoilt, (kind, report) in CASES.items():
    others = [other for other in KINDS if other not in (kind, "messages")]
    more = ["--bytes", "500", "--leave", ",".join([LEAVE, *others])]
    arguments = ["--seed", "5", "--operations", "80", *more]
    expect(jobs.run(setting, 3, arguments, 60).good, f"{kind} is not right by itself")
    os.environ.update(CORRUPT=spoilt, LD_PRELOAD=str(spoiler))
    found = jobs.run(setting, 3, arguments, 60)
    expect(not found.good, f"{spoilt}: nothing is found")
    expect(any(re.search(report, line) and re.search(r"seed 5, operation \d+, rank \d of 3", line) for line in found.output.splitlines()),
           f"{spoilt}: the report is {found.text}")
    replay = re.search(r"replay: conformance (--seed 5 .*) --only (\d+)", found.output)
    expect(replay is not None, f"{spoilt}: no replay in {found.text}")
    if spoilt in ("lost", "gap"):  # of the others the third call is spoilt, which alone is the first
        shrink = Shrink(jobs, setting, 3, 5, more, seconds=30)
        only, _, ranks, _ = shrink.all(found.operation)
        expect(len(only) == 1 and ranks == 2, f"{spoilt}: the shortest case is {only} on {ranks} ranks")
    else:
        shrink = Shrink(jobs, setting, 3, 5, more, seconds=30)
        only = shrink.operations(found.operation)
        expect(len(only) == 3, f"{spoilt}: the shortest case is {only}, which should be three operations")
    for name in ("CORRUPT", "LD_PRELOAD"):
        os.environ.pop(name)
    print(f"{spoilt}: {found.text}")
sys.exit(failed)
