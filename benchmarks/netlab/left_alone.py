"""Networks and jobs of the experiments in which coll/topo knows nothing but the topology and what `colltopo tune` measured there once."""
import contextlib
import json
import tempfile
from dataclasses import dataclass

import laboratory as lab

# name: topology, ranks on each host, rate
NETWORKS = {
    "torus:4x4": ("torus:4x4", 1, "50mbit"),
    "switch:4 x 4": ("switch:4", 4, "100mbit"),
    "hypercube:3": ("hypercube:3", 1, "50mbit"),
    "bipartite:4:4": ("bipartite:4:4", 1, "50mbit"),
    "kautz:6:2": ("kautz:6:2", 1, "50mbit"),
    "ring:8": ("ring:8", 1, "50mbit"),
    "mesh:3x3": ("mesh:3x3", 1, "50mbit"),
    "fattree:4": ("fattree:4", 1, "50mbit"),
    "torus:4x4/drop-links:2:1": ("torus:4x4/drop-links:2:1", 1, "50mbit"),
    "hyperx:3x3": ("hyperx:3x3", 1, "50mbit"),
    "jellyfish:10:3": ("jellyfish:10:3", 1, "50mbit"),
    "dragonfly:2:2:1": ("dragonfly:2:2:1", 1, "50mbit"),
}
# Ranks on this machine alone: nodes (two are made up) and ranks.
MACHINES = {"1 node x 4": (1, 4), "1 node x 16": (1, 16), "2 nodes x 8": (2, 16)}
COLLECTIVES = ["alltoall", "allgather", "allreduce", "reduce_scatter", "bcast", "reduce"]
SIZES = [8, 256, 4096, 65536]
SETTLED = 50  # calls: 8 by the model, 9 to 39 of a trial
TIMED = {8: 401, 256: 401, 4096: 101, 65536: 11}  # calls of each; short ones are at the mercy of two processors


@dataclass
class Job:
    """On a network that is up, or on this machine alone."""

    topology: str  # empty: no network
    rate: str
    per_host: int
    ranks: int
    constants: str  # file

    def command(self, environment):
        if not self.topology:
            return lab.machine_command(self.ranks // self.per_host, self.ranks, environment)
        command = lab.run_command("tcp", environment)
        return [*command[:-1], "-np", str(self.ranks), "--"] if self.per_host > 1 else command

    def time(self, collective, size, *options, warmup=SETTLED):
        """What colltopo-bench says of calls in a row: a pause would fill the buckets of the links."""
        command = self.command({"OMPI_MCA_coll_topo_constants": self.constants})
        return lab.bench(command, collective, size, TIMED[size], *options, warmup=warmup)


@contextlib.contextmanager
def job_on(name):
    """Brings the network up and measures its constants, once for all calls."""
    if name in MACHINES:
        with tempfile.TemporaryDirectory(dir="/run") as folder:
            nodes, ranks = MACHINES[name]
            yield measured(Job("", "", ranks // nodes, ranks, f"{folder}/constants.json"), seconds=5)
        return
    topology, per_host, rate = NETWORKS[name]
    with lab.network(topology, "--rate", rate, "--burst", "2k") as about, tempfile.TemporaryDirectory(dir="/run") as folder:
        yield measured(Job(topology, rate, per_host, about["hosts"] * per_host, f"{folder}/constants.json"), seconds=60)


def measured(job, seconds):
    print(lab.ask([*job.command({}), "colltopo-probe", "--seconds", str(seconds), "-o", job.constants]).strip(), flush=True)
    return job


def other_rows(file, networks, collectives):
    """Those that are not measured anew."""
    return [row for row in lab.read_rows(file) if row["network"] not in networks or row["collective"] not in collectives]
