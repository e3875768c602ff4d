"""The settings of conformance jobs: who serves, how many made-up nodes, parameters, and files that are made first."""
import dataclasses
import itertools

# Every row of src/algorithms/rows.inc is somewhere here; tests/conformance/rows_test.py looks.
ROWS = {
    "alltoall": ["tra", "tra:radix=3", "tra2:group=2", "linear", "pairwise", "node-pairs", "fallback"],
    "allgather": ["linear", "ring", "bruck", "bruck:radix=3", "recursive-doubling", "two-level:group=2", "swing", "mirrored",
                  "bucket", "hamiltonian", "fallback"],
    "reduce_scatter": ["linear", "ring", "recursive-halving", "two-level:group=2", "swing", "mirrored", "bucket", "fallback"],
    "allreduce": ["ring", "recursive-doubling", "recursive-multiplying:radix=3", "recursive-halving", "two-level:group=2", "swing",
                  "swing-latency", "mirrored", "bucket", "hamiltonian", "fallback"],
    "bcast": ["linear", "binomial", "knomial:radix=3", "scatter-allgather", "chain", "two-level:group=3", "bucket", "fallback"],
    "reduce": ["linear", "binomial", "knomial:radix=4", "scatter-allgather", "chain", "two-level:group=2", "fallback"],
    "gather": ["linear", "binomial", "knomial:radix=3", "two-level:group=2", "fallback"],
    "scatter": ["linear", "binomial", "knomial:radix=3", "two-level:group=2", "fallback"],
    "allgatherv": ["linear", "ring", "bruck", "recursive-doubling", "fallback"],
    "gatherv": ["linear", "fallback"],
    "scatterv": ["linear", "fallback"],
    "alltoallv": ["linear", "pairwise", "tra", "tra2:group=2", "node-pairs", "fallback"],
    "alltoallw": ["linear", "pairwise", "tra", "tra2:group=2", "node-pairs", "fallback"],
    "neighborhood": ["linear", "pairwise", "tra", "tra2", "node-pairs", "fallback"],
}
# What is known to fail today, whoever serves; docs/testing.md says why. Empty is right.
WAITS = ["early-free:barrier", "early-free:scan", "early-free:exscan", "edgeless-zero"]
# In calls that the shim passes through, or has no part in.
WAITS_OF_SHIM = [*(f"{what}:{form}" for what in ("empty-types", "shifted-reductions") for form in ("nonblocking", "persistent")),
                 *(f"in-place:{call}:{form}" for call in ("alltoallv", "alltoallw") for form in ("nonblocking", "persistent"))]


@dataclasses.dataclass
class Setting:
    name: str
    serves: str = "component"  # component, shim, mpich, stock, stock-mpich
    parameters: dict = dataclasses.field(default_factory=dict)  # without coll_topo_ or COLLTOPO_
    mca: dict = dataclasses.field(default_factory=dict)  # of others
    nodes: int = 1
    ranks: tuple = ()  # when not any
    prepare: str = ""  # a topology whose `colltopo prepare` folder is used
    generate: tuple = ()  # arguments of `colltopo generate`, whose file goes into a folder of schedules
    rules: str = ""  # text of a rules file
    files: dict = dataclasses.field(default_factory=dict)  # parameter -> name of a file in the job's folder
    info: bool = False  # communicators choose among all rows by info keys
    leave: tuple = ()
    minute: bool = False  # part of what CI runs


def forced(number):
    """Row `number` of each collective's list, round and round."""
    return {f"{collective}_algorithm": rows[number % len(rows)] for collective, rows in ROWS.items()}


def rule(collective, algorithm):
    return ('{"rule_file_version": 3, "module": "topo", "collectives": {"%s": [{"rules": [{"alg": "%s"}]}]}}' % (collective, algorithm))


def table():
    settings = [
        Setting("default", minute=True),
        Setting("model", parameters={"choice": "model"}),
        Setting("off", parameters={"choice": "off"}),
        Setting("trials", parameters={"trial_after": "1"}, minute=True),
        Setting("trials-decisions", parameters={"trial_after": "1", "watch": "1"}, files={"decisions": "decisions"}),
        Setting("info", info=True, minute=True),
        Setting("info-nodes", info=True, nodes=3),
        Setting("info-segments", info=True, parameters={"segment_bytes": "1K"}, minute=True),
        Setting("info-window", info=True, parameters={"window": "1"}),
        Setting("info-steps", info=True, parameters={"pace": "steps"}, minute=True),
        Setting("info-steps-segments", info=True, parameters={"pace": "steps", "segment_bytes": "512", "window": "2"}),
        Setting("aggregate-all", parameters={"aggregate_bytes": "1M", "alltoallv_algorithm": "tra", "alltoallw_algorithm": "node-pairs",
                                             "neighborhood_algorithm": "tra2"}),
        Setting("aggregate-none", parameters={"aggregate_bytes": "0", "alltoallv_algorithm": "tra2:group=2", "alltoallw_algorithm": "tra",
                                              "neighborhood_algorithm": "node-pairs"}),
        Setting("two-nodes", nodes=2),
        Setting("two-nodes-model", nodes=2, parameters={"choice": "model"}),
        Setting("four-nodes-trials", nodes=4, parameters={"trial_after": "1"}),
        Setting("topology", nodes=4, ranks=(4, 8, 16), parameters={"topology": "torus:2x2", "choice": "model"}),
        Setting("topology-forced", nodes=4, ranks=(4, 8), parameters={
            "topology": "torus:2x2", "allgather_algorithm": "hamiltonian", "allreduce_algorithm": "hamiltonian:multiport=1",
            "reduce_scatter_algorithm": "hamiltonian", "bcast_algorithm": "hamiltonian", "reduce_algorithm": "hamiltonian"}),
        Setting("prepared", nodes=4, ranks=(4,), prepare="torus:2x2", minute=True),
        Setting("prepared-small", nodes=4, ranks=(4,), prepare="ring:4", parameters={"schedules_from_bytes": "0"}),
        Setting("folder", nodes=4, ranks=(4,), generate=("mcf", "torus:2x2"), parameters={
            "topology": "torus:2x2", "schedules_from_bytes": "0", "alltoallv_replan": "2", "alltoallv_plan": "1"}),
        Setting("folder-allreduce", nodes=4, ranks=(4,), generate=("forest", "torus:2x2", "-c", "allreduce"),
                parameters={"topology": "torus:2x2", "schedules_from_bytes": "0"}),
        Setting("rules", rules=rule("allreduce", "two-level:group=2")),
        Setting("rules-alltoall", rules=rule("alltoall", "tra2:group=2")),
        # adapt's own MPI_Ibcast of nothing waits for ever.
        Setting("beside-adapt", mca={"coll_adapt_priority": "55"}, leave=("empty-types:nonblocking",)),
        Setting("beside-libnbc", mca={"coll_libnbc_priority": "55"}),
        Setting("without-tuned", mca={"coll": "^tuned"}, info=True),
    ]
    settings += [Setting(f"rows-{i}", parameters=forced(i), minute=i == 1) for i in range(11)]
    settings += [Setting(f"rows-{i}-nodes", parameters=forced(i), nodes=2) for i in (2, 5)]
    for serves in ("shim", "mpich"):
        settings += [
            Setting(f"{serves}-default", serves),
            Setting(f"{serves}-trials", serves, parameters={"trial_after": "1"}, minute=True),
            Setting(f"{serves}-segments", serves, parameters={**forced(1), "segment_bytes": "1K", "pace": "steps"}, minute=True),
        ]
        settings += [Setting(f"{serves}-rows-{i}", serves, parameters=forced(i), minute=i == 3) for i in range(0, 8)]
    return {setting.name: setting for setting in settings}


def stock_of(setting):
    """The same jobs without colltopo: what fails there, too, is not ours."""
    serves = "stock-mpich" if setting.serves == "mpich" else "stock"
    return Setting(f"{setting.name} without colltopo", serves, mca={k: v for k, v in setting.mca.items() if k != "coll"},
                   nodes=setting.nodes, ranks=setting.ranks, leave=setting.leave)


def info_options():
    return list(itertools.chain.from_iterable(
        ("--info", f"{collective}_algorithm={'|'.join(rows)}") for collective, rows in ROWS.items()))
