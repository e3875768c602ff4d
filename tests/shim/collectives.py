"""The interposed collectives from mpi4py: buffers and pickled objects, checked value by value, and served by the shim."""
import ctypes
import os
import sys

try:
    from mpi4py import MPI
except ImportError as error:
    print("SKIP: no mpi4py here:", error)
    sys.exit(77)
from array import array

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
calls = ctypes.CDLL(None).colltopo_shim_calls
calls.restype = ctypes.c_ulonglong
expected = 0 if os.environ.get("SHIM_TEST_SERVES") == "0" else 1
ALLTOALL, ALLGATHER, REDUCE_SCATTER, ALLREDUCE, BCAST, REDUCE = range(6)
COUNT = 9


def check(name, found, wanted, collective=None, times=1):
    if list(found) != list(wanted):
        print(f"rank {rank}: {name}: found {list(found)}, wanted {list(wanted)}", file=sys.stderr)
        comm.Abort(1)
    if collective is not None:
        check(f"calls of {name}", [calls(collective)], [times * expected])


out = array("i", [-1] * (COUNT * ranks))
comm.Alltoall(array("i", [100 * rank + to for to in range(ranks) for _ in range(COUNT)]), out)
check("alltoall", out, [100 * source + rank for source in range(ranks) for _ in range(COUNT)], ALLTOALL)
comm.Allgather(array("i", [rank] * COUNT), out)
check("allgather", out, [source for source in range(ranks) for _ in range(COUNT)], ALLGATHER)
real = array("d", [rank + 0.5] * COUNT)
comm.Allreduce(MPI.IN_PLACE, real, op=MPI.MAX)
check("allreduce", real, [ranks - 0.5] * COUNT, ALLREDUCE)
part = array("i", [-1] * COUNT)
comm.Reduce_scatter_block(array("i", range(COUNT * ranks)), part, op=MPI.SUM)
check("reduce_scatter_block", part, [ranks * (COUNT * rank + i) for i in range(COUNT)], REDUCE_SCATTER)
comm.Reduce(array("i", [rank] * COUNT), part, op=MPI.SUM, root=0)
check("reduce", part if rank == 0 else [], [ranks * (ranks - 1) // 2] * COUNT if rank == 0 else [], REDUCE)
half = array("i", [rank] * COUNT)
comm.Bcast(half, root=ranks - 1)
check("bcast", half, [ranks - 1] * COUNT, BCAST)
check("pickled bcast", comm.bcast({"root": list(range(50))} if rank == 0 else None, root=0)["root"], range(50))
check("pickled allreduce", [comm.allreduce(str(rank), op=MPI.SUM)], ["".join(map(str, range(ranks)))])
check("pickled alltoall", comm.alltoall([(rank, to) for to in range(ranks)]), [(source, rank) for source in range(ranks)])
