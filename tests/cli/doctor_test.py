"""doctor_test.py COLLTOPO: `colltopo doctor` names each of these faults, with its remedy, and none where there is none.

Each case is a small installation in which one thing is wrong: a stand-in for ompi_info that prints what Open MPI would, a
component's file, and settings of a job.
"""

import json
import os
import stat
import subprocess
import sys
import tempfile

COLLTOPO = os.path.abspath(sys.argv[1])


class Installation:
    """Open MPI 4.1.4 with coll/topo in a folder of its own, and settings; nothing is wrong with it."""

    def __init__(self, folder):
        self.folder = folder
        self.components = self.made("components")
        self.system = self.made("system")
        self.bin = self.made("bin")
        self.version = "4.1.4"
        self.built_for = "4.1.4"
        self.loads = True
        self.complaint = ""
        self.launcher = ""  # what mpirun does
        self.component_path = f"{self.system}:{self.components}"
        self.parameters = {"coll": "", "coll_topo_priority": "60", "coll_han_priority": "0"}
        self.environment = {}
        self.options = []
        self.limits = ""

    def made(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        return path

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def doctor(self):
        if self.built_for:
            self.file("components/mca_coll_topo.so", f"\x7fELF built for Open MPI {self.built_for}\0")
        lines = [f"ompi:version:full:{self.version}", f"path:pkglibdir:{self.system}",
                 f'mca:mca:base:param:mca_base_component_path:value:"{self.component_path}"',
                 'mca:coll:han:version:"component:4.1.4"', self.complaint]
        lines += ['mca:coll:topo:version:"component:4.1.4"'] if self.loads else []
        lines += [f"mca:coll:x:param:{name}:value:{value}" for name, value in self.parameters.items()]
        if self.version:
            info = self.file("bin/ompi_info", "#!/bin/sh\ncat <<'END'\n" + "\n".join(lines) + "\nEND\n")
            os.chmod(info, os.stat(info).st_mode | stat.S_IXUSR)
        if self.launcher:
            mpirun = self.file("bin/mpirun", f"#!/bin/sh\n{self.launcher}\n")
            os.chmod(mpirun, os.stat(mpirun).st_mode | stat.S_IXUSR)
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("OMPI_MCA_", "COLLTOPO_", "SLURM_", "PBS_", "LSB_")) and name != "LD_PRELOAD"}
        # An Open MPI of this machine must not be found; `sh`, `cat` and `env` must.
        tools = self.made("tools")
        for tool in ("sh", "cat", "env", "timeout"):
            os.symlink(f"/bin/{tool}" if os.path.exists(f"/bin/{tool}") else f"/usr/bin/{tool}", f"{tools}/{tool}")
        command = ["/bin/sh", "-c", f'{self.limits} exec "$0" doctor --json "$@"', COLLTOPO, *self.options]
        done = subprocess.run(command, env={**kept, **self.environment, "PATH": f"{self.bin}:{tools}"}, text=True,
                              capture_output=True, timeout=60, check=False)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


def no_open_mpi(here):
    here.version = ""


def no_component(here):
    here.built_for = ""


def folder_not_there(here):
    here.component_path = f"{here.system}:/nowhere/openmpi:{here.components}"


def other_release(here):
    here.built_for = "5.0.7"
    here.loads = False


def does_not_load(here):
    here.loads = False
    here.complaint = "mca_base_component_repository_open: unable to open mca_coll_topo: libhwloc.so.15: cannot open"


def launcher_looks_elsewhere(here):
    here.version = here.built_for = "5.0.7"
    here.launcher = f"echo OMPI_MCA_mca_base_component_path={here.system}"


def excluded(here):
    here.parameters["coll"] = "^topo"


def not_listed(here):
    here.parameters["coll"] = "tuned,basic,libnbc"


def turned_off(here):
    here.parameters["coll_topo_priority"] = "-1"


def below_another(here):
    here.parameters["coll_han_priority"] = "80"


def above_han_of_4_1(here):
    here.parameters["coll_han_priority"] = "35"


def misspelt(here):
    here.environment["OMPI_MCA_coll_topo_topologie"] = "torus:3x3"


def refused(here):
    here.environment["OMPI_MCA_coll_topo_alltoall_radix"] = "1"


def no_topology_file(here):
    here.environment["OMPI_MCA_coll_topo_topology"] = "/nowhere/cluster.json"


def other_cluster(here):
    here.environment["OMPI_MCA_coll_topo_topology"] = here.file(
        "net.json",
        '{"colltopo-topology": 1, "name": "net", "hosts": ["a", "b"], "links": [{"tail": 0, "head": 1}, {"tail": 1, "head": 0}]}',
    )
    here.environment["SLURM_JOB_NODELIST"] = "node[01-02],login"


def hosts_do_not_match(here):
    here.options = ["--topology", "ring:4", "--hosts", "a,b,c", "--allocation", "a,b,c"]


def no_schedule_fits(here):
    folder = here.made("schedules")
    subprocess.run([COLLTOPO, "generate", "mcf", "ring:5", "-o", f"{folder}/five.sched"], check=True, capture_output=True)
    here.options = ["--topology", "ring:4", "--schedules", folder]


def no_schedule_folder(here):
    here.options = ["--topology", "ring:4", "--schedules", "/nowhere/schedules"]


def rules_broken(here):
    here.environment["OMPI_MCA_coll_topo_rules"] = here.file("rules.json", '{"collectives": ')


def shim_not_there(here):
    here.limits = "LD_PRELOAD=/nowhere/libcolltopo_mpi.so; export LD_PRELOAD;"


# Case: about, words of the fact, words of the remedy.
FAULTS = {
    no_open_mpi: ("open mpi", "no ompi_info in PATH", "PATH"),
    no_component: ("component", "there is no mca_coll_topo.so in", "env.sh"),
    folder_not_there: ("component", "/nowhere/openmpi, which does not exist", "OMPI_MCA_mca_base_component_path"),
    other_release: ("component", "is built for Open MPI 5.0.7, and this is 4.1.4", "build colltopo"),
    does_not_load: ("component", "libhwloc.so.15: cannot open", "install what it names"),
    launcher_looks_elsewhere: ("component", "mpirun has its processes look for components in", "SYSTEM_DEFAULT"),
    excluded: ("selection", "'^topo', which leaves coll/topo out", "unset OMPI_MCA_coll"),
    not_listed: ("selection", "leaves coll/topo out", "add topo to OMPI_MCA_coll"),
    turned_off: ("selection", "turns coll/topo off", "unset OMPI_MCA_coll_topo_priority"),
    below_another: ("selection", "han 80 is not below it", "raise OMPI_MCA_coll_topo_priority"),
    above_han_of_4_1: ("selection", "han has priority 35 below topo's 60", "unset OMPI_MCA_coll_han_priority"),
    misspelt: ("settings", "there is no parameter coll_topo_topologie", "ompi_info --param coll topo"),
    refused: ("settings", "alltoall_radix is 1", "correct or unset coll_topo_alltoall_radix"),
    no_topology_file: ("topology", "/nowhere/cluster.json", "colltopo topology FILE"),
    other_cluster: ("topology", "host node01 is not in topology", "coll_topo_hosts"),
    hosts_do_not_match: ("topology", "hosts lists 3 names", "coll_topo_hosts"),
    no_schedule_fits: ("schedules", "is for 4 ranks on ring:4", "colltopo generate mcf ring:4"),
    no_schedule_folder: ("schedules", "folder /nowhere/schedules", "coll_topo_schedules"),
    rules_broken: ("rules", "rules.json", "docs/rules.md"),
    shim_not_there: ("shim", "/nowhere/libcolltopo_mpi.so, which does not exist", "unset LD_PRELOAD"),
}


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        well = Installation(folder)
        well.options = ["--topology", "ring:4"]
        status, answer = well.doctor()
        if status != 0 or answer["faults"] != 0:
            failed += 1
            print(f"FAILED: a good installation: status {status}: {json.dumps(answer, indent=1)}")
    for case, (about, fact, remedy) in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            here = Installation(folder)
            case(here)
            status, answer = here.doctor()
        faults = [one for one in answer["findings"] if not one["good"]]
        named = [one for one in faults if one["about"] == about and fact in one["fact"] and remedy in one["remedy"]]
        if status != 1 or len(faults) != 1 or len(named) != 1:
            failed += 1
            print(f"FAILED: {case.__name__}: status {status}, wanted {about}: '{fact}' ({remedy}): {json.dumps(faults, indent=1)}")
    print(f"{len(FAULTS)} faults, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
