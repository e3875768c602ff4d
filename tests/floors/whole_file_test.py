#!/usr/bin/env python3
"""whole_file_test.py SOURCE_FOLDER: what scripts write is there whole, or the old file is (scripts/whole_file.py)."""
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.realpath(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "scripts"))
from whole_file import replaced  # noqa: E402

OLD = "what was here before\n"
WRITER = f"""
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, {os.path.join(SOURCE, 'scripts')!r})
from whole_file import replaced
while True:
    for letter in "abc":
        with replaced("out", encoding="ascii") as file:
            file.write(letter * 300000)
"""


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def put(text):
    with replaced("out", encoding="ascii") as file:
        file.write(text)


# What goes to a folder that is the script's own and not seen before it is complete, or that goes at its end.
SCRATCH = {
    "scripts/demo_parts/torus.py": "what a job said, which is shown and forgotten",
    "scripts/netlab_parts": "the folder of a network that is being made, or of its job",
    "scripts/applications_parts/programs.py": "a job's folder",
    "scripts/conformance_parts/jobs.py": "a job's folder",
    "benchmarks/netlab/paper002": "a job's folder",
    "benchmarks/netlab/forest": "a job's folder",
    "benchmarks/netlab/choice": "a job's folder",
    "benchmarks/netlab/laboratory.py": "a lock, and numbers for gnuplot",
}
IN_PLACE = re.compile(r"""open\([^)\n]*,\s*["'][wax]b?\+?["']|\.write_(text|bytes)\(|set output|mv .*\.new""")


def scripts():
    for folder in ("scripts", "benchmarks"):
        for path in sorted((pathlib.Path(SOURCE) / folder).rglob("*")):
            name = str(path.relative_to(SOURCE))
            if path.is_file() and "/results/" not in name and path.suffix in ("", ".py", ".sh") and "__pycache__" not in name:
                yield name, path.read_text(encoding="utf-8")


def all_write_whole():
    for name, text in scripts():
        if name == "scripts/whole_file.py" or any(name.startswith(folder) for folder in SCRATCH):
            continue
        found = [line for line in text.splitlines() if IN_PLACE.search(line)]
        assert not found, f"{name} writes in place: {found[0]}; expected scripts/whole_file.py"


def by_command():
    """What a command prints becomes the file, or nothing does."""
    def run(*words, **options):
        return subprocess.run([os.path.join(SOURCE, "scripts", "whole_file.py"), *words], stderr=subprocess.PIPE, text=True, check=False,
                              **options)

    put(OLD)
    assert run("out", "printf", "new").returncode == 0 and read("out") == "new"
    assert run("out", "cat", input="of a pipe").returncode == 0 and read("out") == "of a pipe"
    assert run("out", "sh", "-c", "echo half; exit 3").returncode == 3 and read("out") == "of a pipe"
    assert run("out", "sh", "-c", "echo half; kill -9 $$").returncode == 1 and read("out") == "of a pipe"
    missing = run("no/folder/out", "true")
    assert missing.returncode == 1 and missing.stderr.count("\n") == 1, missing.stderr
    left, young, other = ".out.abcdefghijkl.draft", ".out.aaaaaaaaaaaa.draft", ".others.abcdefghijkl.draft"
    for name in (left, young, other):
        with open(name, "w", encoding="ascii"):
            pass
    for name in (left, other):
        os.utime(name, (1, 1))
    put(OLD)
    assert sorted(os.listdir()) == [other, young, "out"], os.listdir()
    os.unlink(other)
    os.unlink(young)
    os.unlink("out")


def main():
    all_write_whole()
    by_command()
    put("one")
    assert os.listdir() == ["out"] and read("out") == "one"
    os.chmod("out", 0o640)
    put(OLD)
    assert os.stat("out").st_mode & 0o777 == 0o640 and read("out") == OLD
    try:
        with replaced("out", encoding="ascii") as file:
            file.write("half")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert os.listdir() == ["out"] and read("out") == OLD
    os.symlink("out", "link")
    with replaced("link", encoding="ascii") as file:
        file.write("through")
    assert os.path.islink("link") and read("out") == "through"
    os.unlink("link")
    with replaced("/dev/null", encoding="ascii") as file:
        file.write("gone")
    put(OLD)
    if os.fork() == 0:  # a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            put("x" * 5000)
        except OSError:
            os._exit(0)
        os._exit(1)
    assert os.wait()[1] == 0 and read("out") == OLD and os.listdir() == ["out"]
    chance = random.Random(1)
    for _ in range(10):
        process = subprocess.Popen([sys.executable, "-c", WRITER])
        time.sleep(chance.uniform(0.03, 0.3))
        process.kill()
        process.wait()
        found = read("out")
        assert found == OLD or found == found[:1] * 300000, found[:50]


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    main()
    os.chdir("/")
