"""One conformance job: its command, its run in a time limit, what it said."""
import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile

from . import settings as table

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# What stock libraries get wrong in calls that colltopo has no part in; docs/testing.md has the list.
NEIGHBOURS = [f"neighbor_{kind}" for kind in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")]
NEVER = {
    "component": ["stock-4.1"],
    "stock": ["stock-4.1", "shifted-reductions"],
    "shim": ["stock-4.1", "early-free", *table.WAITS_OF_SHIM, *NEIGHBOURS],
    "mpich": ["stock-mpich", "early-free", "persistent", "mixed-allgatherv", *table.WAITS_OF_SHIM, *NEIGHBOURS],
    "stock-mpich": ["stock-mpich", "early-free", "persistent", "mixed-allgatherv", *table.WAITS_OF_SHIM, *NEIGHBOURS],
}


@dataclasses.dataclass
class Outcome:
    good: bool
    text: str  # the line that says what is wrong, or JSON
    output: str
    operation: int = -1
    counts: dict = dataclasses.field(default_factory=dict)


class Jobs:
    """Makes and runs jobs of one build."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.folder = tempfile.TemporaryDirectory(prefix="conformance-")
        self.made = {}

    def program(self, serves):
        mpich = serves in ("mpich", "stock-mpich")
        return self.build / "bin" / ("conformance.mpich" if mpich else "conformance.openmpi")

    def can_run(self, setting):
        if not self.program(setting.serves).exists():
            return False
        shim = {"shim": "libcolltopo_mpi.so", "mpich": "libcolltopo_mpich.so"}.get(setting.serves)
        if shim and not (self.build / "lib" / shim).exists():
            return False
        return setting.nodes == 1 or subprocess.run(["unshare", "--uts", "true"], capture_output=True).returncode == 0

    def parameters(self, setting):
        """All parameters of a setting, and the files that they name."""
        parameters = dict(setting.parameters)
        folder = pathlib.Path(self.folder.name) / setting.name
        if setting.prepare or setting.generate or setting.rules or setting.files:
            folder.mkdir(exist_ok=True)
        for name, file in setting.files.items():
            parameters[name] = str(folder / file)
        if setting.rules:
            (folder / "rules.json").write_text(setting.rules)
            parameters["rules"] = str(folder / "rules.json")
        hosts = "".join(f"node{i + 1}\n" for i in range(setting.nodes))
        if setting.prepare or "topology" in parameters:
            folder.mkdir(exist_ok=True)
            (folder / "hosts").write_text(hosts)
            parameters["hosts"] = str(folder / "hosts")
        command = str(self.build / "bin" / "colltopo")
        if setting.prepare:
            if not (folder / "prepared").exists():
                subprocess.run([command, "prepare", setting.prepare, "-o", folder / "prepared", "--hosts", folder / "hosts"],
                               check=True, capture_output=True)
            parameters["topology"] = str(folder / "prepared" / "topology.json")
            parameters.pop("hosts", None)
        if setting.generate:
            (folder / "schedules").mkdir(exist_ok=True)
            if not (folder / "schedules" / "one.sched").exists():
                subprocess.run([command, "generate", *setting.generate, "-o", folder / "schedules" / "one.sched"],
                               check=True, capture_output=True)
            parameters["schedules"] = str(folder / "schedules")
        return parameters

    def command(self, setting, ranks, arguments):
        """The command of a job, as a list for the shell."""
        leave = [*NEVER[setting.serves], *setting.leave]
        words = [str(self.program(setting.serves)), *arguments]
        for i, word in enumerate(words):
            if word == "--leave":
                words[i + 1] = ",".join(leave + [words[i + 1]])
                break
        else:
            words += ["--leave", ",".join(leave)]
        if setting.info:
            words += table.info_options()
        parameters = self.parameters(setting)
        if setting.serves in ("mpich", "shim"):
            told = [f"COLLTOPO_{name.upper()}={value}" for name, value in parameters.items()]
            library = "libcolltopo_mpich.so" if setting.serves == "mpich" else "libcolltopo_mpi.so"
            words = ["env", *told, f"LD_PRELOAD={self.build / 'lib' / library}", *words]
        if setting.serves in ("mpich", "stock-mpich"):
            return ["mpirun.mpich", "-np", str(ranks), *words]
        mca = dict(setting.mca)
        if setting.serves == "component":
            mca.update({f"coll_topo_{name}": value for name, value in parameters.items()})
        else:
            mca["coll"] = "^topo"
        options = list(word for name, value in mca.items() for word in ("--mca", name, value))
        run = SOURCE / "tests" / "mpi" / "run.sh"
        return [str(run), str(self.build), str(setting.nodes), str(ranks), *options, *words]

    def run(self, setting, ranks, arguments, seconds):
        command = self.command(setting, ranks, arguments)
        environment = dict(os.environ, OMPI_MCA_btl_vader_single_copy_mechanism="none", HOME=self.folder.name)
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, start_new_session=True,
                               text=True, errors="replace")
        try:
            output, _ = job.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGTERM)
            try:
                output, _ = job.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                output, _ = job.communicate()
            output += "\nconformance: the job was not over in time\n"
        return outcome_of(job.returncode, output)


def outcome_of(status, output):
    said = [line for line in output.splitlines() if line.startswith("conformance: ")]
    counts = {}
    for line in output.splitlines():
        if line.startswith('{"seed"'):
            counts = json.loads(line)
    if status == 0 and counts and not said:
        return Outcome(True, "", output, counts=counts)
    said.sort(key=lambda line: ("not over in time" in line, "making the communicator" in line, "operation -1" in line))
    line = said[0] if said else f"exit status {status}; the last line: {(output.strip().splitlines() or ['none'])[-1]}"
    number = re.search(r"operation (\d+)", line)
    numbers = [int(n) for n in re.findall(r"conformance: seed \d+, operation (\d+)", output)]
    return Outcome(False, line, output, operation=max(numbers) if numbers else int(number[1]) if number else -1)


def in_words(command):
    return " ".join(shlex.quote(str(word)) for word in command)
