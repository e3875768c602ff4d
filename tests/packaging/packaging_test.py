"""packaging_test.py SOURCES COLLTOPO CASE: a file of scripts/packaging does what its tool would ask of it.

Spack's recipe runs against a stand-in for Spack's words, EasyBuild's is Python and is evaluated, Apptainer's definition is cut
into sections whose shell is parsed, the modulefile runs in Tcl with the commands of Environment Modules defined, the prolog runs
and its answer goes to `colltopo doctor`, and bash completes.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types

SOURCES, COLLTOPO, CASE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
PACKAGING = os.path.join(SOURCES, "scripts", "packaging")
VERSION = subprocess.run([COLLTOPO, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]


def cmake_options():
    """The names that CMake's files of ours give to what a builder may set."""
    text = ""
    for folder in (SOURCES, os.path.join(SOURCES, "coll_topo")):
        for name in os.listdir(folder):
            if name == "CMakeLists.txt" or name.endswith(".cmake"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text += file.read()
    return text


def recipe(name):
    """A recipe as `scripts/package recipes` completes it, from a copy of the sources that is a repository of its own."""
    if shutil.which("git") is None:
        print("SKIP: no git")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for wanted in ("CMakeLists.txt", "scripts"):
            source = os.path.join(SOURCES, wanted)
            (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, os.path.join(folder, wanted))
        git = ["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "t"]):
            subprocess.run(git + words, check=True)
        subprocess.run([f"{folder}/scripts/package", "recipes", "https://host/colltopo", "https://host/archives"], check=True,
                       capture_output=True)
        made = f"{folder}/build/package"
        with open(f"{made}/colltopo-{VERSION}.tar.gz", "rb") as file:
            checksum = hashlib.sha256(file.read()).hexdigest()
        with open(f"{made}/{name}", encoding="utf-8") as file:
            text = file.read()
    assert re.search("@[A-Z_]+@", text) is None, "something is not filled in"
    assert checksum in text, "not the checksum of the archive"
    return text


def contents(name):
    with open(os.path.join(PACKAGING, name), encoding="utf-8") as file:
        return file.read()


class Words:
    """Stands for anything of Spack's that a recipe names; remembers how it is called."""

    def __init__(self, calls):
        self.calls = calls

    def named(self, name):
        def call(*arguments, **options):
            self.calls.append((name, arguments, options))
            return lambda function: function

        return call


def spack():
    calls = []
    words = Words(calls)
    stand_in = types.ModuleType("spack.package")
    for name in ("version", "variant", "depends_on", "license", "resource", "run_before", "run_after", "on_package_attributes"):
        setattr(stand_in, name, words.named(name))
    stand_in.CMakePackage = type("CMakePackage", (), {"define": staticmethod(lambda name, value: f"-D{name}={value}")})
    stand_in.join_path = os.path.join
    stand_in.__all__ = [name for name in vars(stand_in) if not name.startswith("_")]
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = stand_in
    scope = {}
    exec(compile(recipe("spack/package.py"), "package.py", "exec"), scope)  # pylint: disable=exec-used
    made = scope["Colltopo"]()

    class Spec:
        mpicc = "/mpi/bin/mpicc"

        def __getitem__(self, name):
            return self

        @staticmethod
        def satisfies(condition):
            return condition == "+component"

    class Prefix(str):
        lib = types.SimpleNamespace(openmpi="/prefix/lib/openmpi")
        share = types.SimpleNamespace(colltopo="/prefix/share/colltopo")

    made.spec, made.run_tests, made.prefix = Spec(), False, Prefix("/prefix")
    made.stage = types.SimpleNamespace(source_path="/stage")
    arguments = made.cmake_args()
    assert "-DCOLLTOPO_OPENMPI_SOURCE=/stage/openmpi-source" in arguments, arguments
    known = cmake_options()
    for argument in arguments:
        name = argument[2:].split("=")[0]
        assert name in known or name.startswith("MPI_"), f"CMake knows no {name}"
    assert made.homepage == "https://host/colltopo", made.homepage
    assert made.url == f"https://host/archives/colltopo-{VERSION}.tar.gz", made.url
    variables = {}
    made.setup_run_environment(types.SimpleNamespace(set=variables.__setitem__))
    assert variables["OMPI_MCA_mca_base_component_path"] == "SYSTEM_DEFAULT:/prefix/lib/openmpi", variables
    needed = {arguments[0].split("@")[0] for name, arguments, _ in calls if name == "depends_on"}
    assert {"openmpi", "hwloc", "clp", "cbc", "bliss", "pugixml"} <= needed, needed


def easybuild():
    scope = {}
    exec(compile(recipe(f"colltopo-{VERSION}-gompi-2025a.eb"), "eb", "exec"), scope)  # pylint: disable=exec-used
    for name in ("easyblock", "name", "version", "homepage", "description", "toolchain", "sources", "dependencies", "moduleclass"):
        assert scope.get(name), f"{name} is missing"
    assert scope["version"] == VERSION, f"version {scope['version']}, and this is {VERSION}"
    assert scope["homepage"] == "https://host/colltopo", scope["homepage"]
    assert scope["sources"][0]["source_urls"] == ["https://host/archives"], scope["sources"]
    known = cmake_options()
    for option in scope["configopts"].split():
        assert option.startswith("-D") and option[2:].split("=")[0] in known, f"CMake knows no {option}"
    for one in scope["builddependencies"] + scope["dependencies"]:
        assert len(one) >= 2 and all(isinstance(word, str) for word in one), one


def apptainer():
    header, sections, name = {}, {}, None
    for line in contents("colltopo.def").splitlines():
        if line.startswith("%"):
            name = line[1:].split()[0]
            sections[name] = ""
        elif name is None:
            if line.strip() and not line.startswith("#"):
                key, _, value = line.partition(":")
                header[key] = value.strip()
        else:
            sections[name] += line.strip() + "\n"
    assert header == {"Bootstrap": "docker", "From": "debian:trixie"}, header
    for name in ("post", "environment", "test", "runscript"):
        done = subprocess.run(["sh", "-n"], input=sections[name], text=True, capture_output=True, check=False)
        assert done.returncode == 0, f"%{name}: {done.stderr}"
    for word in sections["post"].split():
        if word.startswith("scripts/"):
            assert os.access(os.path.join(SOURCES, word), os.X_OK), f"%post runs {word}, which is not there"
    for line in sections["test"].splitlines():
        if line.startswith("colltopo bound"):
            subprocess.run([COLLTOPO, *line.split()[1:]], check=True, capture_output=True)


def modulefile():
    if shutil.which("tclsh") is None:
        print("SKIP: no tclsh")
        sys.exit(77)
    words = """
proc module-whatis {text} {}
proc conflict {name} {}
proc prepend-path {name value} {puts "$name=$value"}
proc setenv {name value} {puts "$name=$value"}
"""
    with tempfile.NamedTemporaryFile("w", suffix=".tcl", delete=False) as file:
        file.write(words + contents("modulefile") + "\nModulesHelp\n")
    try:
        done = subprocess.run(["tclsh", file.name], text=True, capture_output=True, check=False)
    finally:
        os.unlink(file.name)
    assert done.returncode == 0, done.stderr
    assert contents("modulefile").startswith("#%Module1.0"), "no magic cookie"
    lines = done.stdout.splitlines()
    assert "OMPI_MCA_mca_base_component_path=SYSTEM_DEFAULT:/opt/colltopo/lib/openmpi" in lines, lines
    assert "PATH=/opt/colltopo/bin" in lines, lines


def prolog():
    with tempfile.TemporaryDirectory() as folder:
        def answer(**variables):
            kept = {"PATH": os.environ["PATH"], "COLLTOPO_CLUSTER": f"{folder}/net.conf", "SLURM_CONF": f"{folder}/slurm.conf",
                    "COLLTOPO_CLUSTER_SCHEDULES": f"{folder}/schedules", **variables}
            done = subprocess.run([os.path.join(PACKAGING, "slurm-task-prolog")], env=kept, text=True, capture_output=True, check=True)
            return dict(line.removeprefix("export ").split("=", 1) for line in done.stdout.splitlines())

        assert answer() == {}, "without a file it says something"
        with open(f"{folder}/topology.conf", "w", encoding="utf-8") as file:
            file.write("SwitchName=s0 Nodes=node[1-2]\nSwitchName=s1 Nodes=node[3-4]\nSwitchName=top Switches=s[0-1]\n")
        assert answer() == {"OMPI_MCA_coll_topo_topology": f"{folder}/topology.conf"}, answer()
        shutil.copy(f"{folder}/topology.conf", f"{folder}/net.conf")
        os.mkdir(f"{folder}/schedules")
        wanted = {"OMPI_MCA_coll_topo_topology": f"{folder}/net.conf", "OMPI_MCA_coll_topo_schedules": f"{folder}/schedules"}
        assert answer() == wanted, answer()
        assert answer(OMPI_MCA_coll_topo_topology="ring:4") == {}, "a user's own setting does not stand"
        # What it says is what coll/topo reads.
        environment = {"PATH": os.environ["PATH"], "SLURM_JOB_NODELIST": "node[1-4]", **answer()}
        done = subprocess.run([COLLTOPO, "topology", f"{folder}/net.conf"], env=environment, text=True, capture_output=True, check=False)
        assert done.returncode == 0 and "hosts" in done.stdout, done.stderr


def completion():
    def completed(*words, program="colltopo", path=os.path.dirname(COLLTOPO) + ":" + os.environ["PATH"], folder="."):
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _colltopo; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, "bash", os.path.join(PACKAGING, "colltopo.bash"), program, *words], text=True,
                              capture_output=True, check=True, cwd=folder, env={**os.environ, "PATH": path})
        return done.stdout.split()

    for command in ("generate", "doctor", "routes", "bound"):
        assert command in completed(""), completed("")
    assert completed("gen") == ["generate"], completed("gen")
    assert "--json" in completed("bound", "--j") and "--on" in completed("verify", "x", "--o"), completed("verify", "x", "--o")
    assert "allreduce" in completed("bound", "allr"), completed("bound", "allr")
    # A key pressed in somebody's folder runs nothing there, however the program is called or PATH is set.
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/colltopo", "w", encoding="utf-8") as trap:
            trap.write("#!/bin/sh\ntouch ran\n")
        os.chmod(f"{folder}/colltopo", 0o755)
        for program in ("./colltopo", f"{folder}/colltopo", "colltopo"):
            for path in (os.environ["PATH"], ":" + os.environ["PATH"], ".:" + os.environ["PATH"]):
                for words in (("",), ("bound", "--j")):
                    completed(*words, program=program, path=path, folder=folder)
        assert os.listdir(folder) == ["colltopo"], os.listdir(folder)


if __name__ == "__main__":
    {case.__name__: case for case in (spack, easybuild, apptainer, modulefile, prolog, completion)}[CASE]()
