"""output_test.py COLLTOPO CASE: what the command writes is there whole, or the old file is.

Each output of each subcommand meets a full disk, /dev/full as standard output, SIGKILL at any time and a second writer.
"""
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

COLLTOPO = os.path.abspath(sys.argv[1])
OLD = "what was here before\n"
SMALL = 1000  # bytes, less than any of the outputs


def outputs():
    """Arguments of each subcommand that writes a file, with OUT in the file's place; all make more than SMALL bytes."""
    return [
        ["generate", "tra", "ring:9", "-o", "OUT"],
        ["generate", "tra", "ring:48", "--binary", "-o", "OUT"],
        ["generate", "mcf", "torus:5x5", "--lengths", "OUT"],
        ["generate", "mcf", "torus:12x12", "--parametric", "-o", "OUT"],
        ["convert", "in.sched", "-o", "OUT"],
        ["convert", "in.sched", "--reseal", "-o", "OUT"],
        ["convert", "wide.sched", "--to", "binary", "-o", "OUT"],
        ["convert", "in.sched", "--to", "msccl-xml", "-o", "OUT"],
        ["convert", "in.sched", "--to", "oneccl-xml", "-o", "OUT"],
        ["convert", "torus:4x4", "--to", "graphml", "-o", "OUT"],
        ["topology", "torus:4x4", "-o", "OUT"],
        ["bound", "alltoall", "torus:5x5", "--lengths", "OUT"],
        ["bound", "alltoall", "torus:5x5", "--loads", "OUT"],
        ["routes", "mcf.sched", "-o", "OUT"],
        ["routes", "mcf.sched", "--for", "json", "-o", "OUT"],
        ["draw", "in.sched", "-o", "OUT"],
        ["draw", "torus:4x4", "-o", "OUT"],
    ]


def printing():
    """Arguments of each subcommand that prints."""
    return [
        ["topology", "ring:4"], ["bound", "alltoall", "ring:4"], ["generate", "tra", "ring:4"], ["verify", "in.sched"],
        ["cost", "in.sched", "ring:9", "--bytes", "1K"], ["draw", "ring:4"], ["explain", "alltoall", "--ranks", "8", "--bytes", "1K"], ["convert", "in.sched"],
        ["routes", "mcf.sched"], ["simulate", "swing", "torus:4x4"], ["rules", "rules.txt", "--for", "tuned"], ["doctor"],
        ["topology", "ring:4", "-o", "t.json"], ["topology", "ring:4", "-o", "-"], ["prepare", "ring:4", "-o", "folder"],
        ["--help"], ["--version"], ["topology", "--help"],
    ]


def run(*arguments, **options):
    return subprocess.run([COLLTOPO, *arguments], capture_output=True, text=True, timeout=100, **options)


def inputs():
    for arguments in (["generate", "tra", "ring:9", "-o", "in.sched"], ["generate", "mcf", "torus:3x3", "-o", "mcf.sched"],
                      ["generate", "tra", "ring:48", "-o", "wide.sched"]):
        assert run(*arguments).returncode == 0, arguments
    answer = run("explain", "alltoall", "--ranks", "8", "--bytes", "1K", "--json")
    with open("rules.txt", "w") as out:
        out.write(answer.stdout)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def drafts():
    return [name for name in os.listdir(".") if name.endswith(".draft") or name.endswith(".lock")]


def full_disk():
    """A limit of size stands for it: write() takes a part, then fails. The old file is whole, and nothing else is left."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))

    for arguments in outputs():
        with open("out.svg", "w") as out:
            out.write(OLD)
        words = [word.replace("OUT", "out.svg") for word in arguments]
        done = run(*words, preexec_fn=limit, restore_signals=False)
        assert done.returncode == 2, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
        assert "out.svg: cannot be written: File too large; the old file is as it was" in done.stderr, done.stderr
        assert read("out.svg") == OLD.encode(), f"{words}: {read('out.svg')[:100]}"
        assert not drafts(), drafts()
    # The same by a device that is full, and with room.
    for arguments in outputs():
        done = run(*[word.replace("OUT", "/dev/full") for word in arguments])
        assert done.returncode == 2 and "/dev/full: cannot be written: No space left" in done.stderr, (arguments, done)
        done = run(*[word.replace("OUT", "out.svg") for word in arguments])
        assert done.returncode == 0 and len(read("out.svg")) > SMALL, (arguments, done, len(read("out.svg")))


class Disk:
    """A file system of this process's own, at `disk`, of `pages` beside what is there already."""

    def __init__(self):
        os.mkdir("disk")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=755", "none", "disk"], check=True)

    def leave(self, room):
        """Bytes that are free: all the others have a file."""
        with open("disk/ballast", "wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                pass
            ballast.truncate(os.fstat(ballast.fileno()).st_size - room)
        found = os.statvfs("disk")
        assert found.f_bavail * found.f_bsize == room, found

    def files(self):
        """Contents by name, but for the ballast."""
        return {path: read(path) for folder, _, names in os.walk("disk") for path in (os.path.join(folder, name) for name in names)
                if not path.endswith("/ballast")}


def no_room():
    """A disk that is full, and one with room for a part: the old files are whole, a line says why, and no draft is left."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        print("SKIP: no right to mount here")
        sys.exit(77)
    sys.exit(subprocess.run(["unshare", "--mount", sys.executable, os.path.realpath(__file__), COLLTOPO, "on_own_disk"]).returncode)


def on_own_disk():
    disk = Disk()
    try:
        fill(disk)
    finally:
        subprocess.run(["umount", "disk"], check=True)


def fill(disk):
    wholes, tried = {}, 0
    for arguments in outputs():
        assert run(*[word.replace("OUT", "whole.svg") for word in arguments]).returncode == 0
        wholes[tuple(arguments)] = read("whole.svg")
    for room in (0, 4096, 8192):
        for arguments in outputs():
            with open("disk/out.svg", "w") as out:
                out.write(OLD)
            disk.leave(room)
            words = [word.replace("OUT", "disk/out.svg") for word in arguments]
            done = run(*words)
            tried += 1
            if done.returncode == 0:
                assert len(wholes[tuple(arguments)]) <= room, (words, done)
                continue
            assert done.returncode == 2, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
            said = [line for line in done.stderr.splitlines() if "disk/out.svg: cannot be written: " in line]
            assert len(said) == 1 and said[0].endswith("No space left on device; the old file is as it was"), done.stderr
            assert disk.files() == {"disk/out.svg": OLD.encode()}, (words, list(disk.files()))
    os.unlink("disk/out.svg")
    # A folder of files: what an earlier run has left, and none yet.
    os.unlink("disk/ballast")
    assert run("prepare", "torus:2x2", "-o", "disk/prepared", "--collectives", "bcast").returncode == 0
    for folder in ("prepared", "another"):
        for room in (0, 4096, 16384):
            disk.leave(room)
            before = disk.files()
            done = run("prepare", "torus:3x3", "-o", f"disk/{folder}", "--collectives", "alltoall")
            tried += 1
            assert done.returncode == 2 or (room > 0 and done.returncode == 0), (folder, room, done)
            said = [line for line in done.stderr.splitlines() if "No space left on device" in line]
            assert len(said) == (1 if done.returncode == 2 else 0), done.stderr
            found = disk.files()
            assert not [name for name in found if name.endswith(".draft")], list(found)
            for name, text in before.items():
                assert room > 0 or found.get(name) == text, f"{name} has changed"
    print(f"{tried} outputs on a full disk")


def standard_output():
    for arguments in printing():
        for json_too in (False, True):
            if json_too and ("--help" in arguments or "--version" in arguments or "-" in arguments or "convert" in arguments or "routes" in arguments or "rules" in arguments):
                continue
            with open("/dev/full", "w") as full:
                done = subprocess.run([COLLTOPO, *arguments, *(["--json"] if json_too else [])], stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=100)
            assert done.returncode == 2, f"{arguments}: {done.returncode} {done.stderr}"
            assert "standard output: cannot be written" in done.stderr, f"{arguments}: {done.stderr}"


def killed():
    """At any time, by each of the signals that end a process: the old file or the new one."""
    chance = random.Random(1)
    for arguments in (["generate", "tra", "ring:64", "-o", "out.sched"], ["convert", "wide.sched", "-o", "out.sched"],
                      ["draw", "wide.sched", "-o", "out.sched"], ["topology", "torus:32x32", "-o", "out.sched"]):
        begin = time.monotonic()
        assert run(*arguments).returncode == 0
        took = time.monotonic() - begin
        whole = read("out.sched")
        kept = 0
        for attempt in range(20):
            with open("out.sched", "w") as out:
                out.write(OLD)
            process = subprocess.Popen([COLLTOPO, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 1.1 * took))
            process.send_signal((signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[attempt % 3])
            process.wait()
            found = read("out.sched")
            assert found in (OLD.encode(), whole), f"{arguments}, kill {attempt}: {len(found)} bytes of {len(whole)}"
            kept += found == OLD.encode()
        print(f"{arguments[0]}: {kept} of 20 old, {20 - kept} new")


def two_writers():
    """At the same time into the same file, until one of them has written a hundred times or so."""
    one, other = ["topology", "torus:12x12", "-o", "out.json"], ["topology", "ring:100", "-o", "out.json"]
    wholes = []
    for arguments in (one, other):
        assert run(*arguments).returncode == 0
        wholes.append(read("out.json"))
    for _ in range(25):
        processes = [subprocess.Popen([COLLTOPO, *arguments], stdout=subprocess.DEVNULL) for arguments in (one, other, one, other)]
        while any(process.poll() is None for process in processes):
            assert read("out.json") in wholes
        assert all(process.returncode == 0 for process in processes)
    assert not drafts(), drafts()


def in_place():
    """`convert FILE -o FILE`, as docs/schedule.md recommends: also through a link, which stays one, and of a binary file."""
    text = read("in.sched").decode()
    assert run("convert", "in.sched", "--to", "binary", "-o", "in.sched").returncode == 0
    assert read("in.sched") != text.encode()
    assert run("convert", "in.sched", "-o", "in.sched").returncode == 0
    assert read("in.sched").decode() == text
    os.mkdir("real")
    os.rename("in.sched", "real/in.sched")
    os.symlink("real/in.sched", "in.sched")
    with open("real/in.sched", "w") as out:
        out.write(text.replace("name tra", "name an-author's", 1))
    os.chmod("real/in.sched", 0o640)
    done = run("convert", "in.sched", "--reseal", "-o", "in.sched")
    assert done.returncode == 0, done.stderr
    assert os.path.islink("in.sched") and "name an-author's" in read("real/in.sched").decode()
    assert os.stat("real/in.sched").st_mode & 0o777 == 0o640
    assert run("verify", "in.sched").returncode == 0


def prepare_outside():
    """`prepare` neither removes nor overwrites what is not in its folder, whatever stands there."""
    os.mkdir("home")
    thesis = "home/thesis.txt"

    def precious():
        with open(thesis, "w") as out:
            out.write(OLD)

    def check(folder, **options):
        done = run("prepare", "torus:2x2", "-o", folder, "--collectives", "bcast", **options)
        assert done.returncode == 0, done.stderr
        assert read(thesis) == OLD.encode(), read(thesis)[:100]
        return done

    precious()
    version = run("--version").stdout.split()[1]
    names = ["../home/thesis.txt", os.path.abspath(thesis), "../home/bcast-x.sched", "bcast-x.sched/../../home/thesis.txt",
             "rules.json", "notes.sched", ".sched", "bcast", "", "bcast-\n.sched", "bcast-none.sched", "bcast-folder.sched"]
    os.mkdir("shared")
    os.mkdir("shared/bcast-folder.sched")
    for name in ("notes.sched", "bcast", "bcast-none.sched"):
        with open(f"shared/{name}", "w") as out:
            out.write(OLD)
    with open("shared/prepared.json", "w") as out:
        json.dump({"version": version, "files": [{"file": name} for name in names], "proved": [], "ranks": 4,
                   "flow": "../home/thesis.txt", "network_file": "../home/thesis.txt"}, out)
    check("shared")
    assert os.path.exists("shared/notes.sched") and os.path.exists("shared/bcast") and os.path.isdir("shared/bcast-folder.sched")
    assert not os.path.exists("shared/bcast-none.sched"), "a schedule that prepare wrote stays"
    # Each file that it writes is a link to the thesis.
    written = os.listdir("shared")
    for name in written:
        for suffix in ("", ".new"):
            folder = f"links-{name}{suffix}"
            os.mkdir(folder)
            os.symlink(os.path.abspath(thesis), f"{folder}/{name}{suffix}")
    check("links-rules.json.new")
    for name in ("rules.json", "topology.json", "index.html", "prepared.json"):
        check(f"links-{name}")
        assert not os.path.islink(f"links-{name}/{name}"), name
    # A report that is none, and another user's.
    for text in ('{"version": 1}', "[]", "{", '{"version": "%s", "files": 7}' % version):
        with open("shared/prepared.json", "w") as out:
            out.write(text)
        assert "json.exception" not in check("shared").stderr
    if os.geteuid() == 0:
        with open("shared/bcast-none.sched", "w") as out:
            out.write(OLD)
        with open("shared/prepared.json", "w") as out:
            json.dump({"version": version, "files": [{"file": "bcast-none.sched"}], "proved": ["binomial"], "ranks": 4}, out)
        os.chown("shared/prepared.json", 65534, 65534)
        assert "belongs to user 65534" in check("shared").stdout
        assert os.path.exists("shared/bcast-none.sched")


CASES = {case.__name__: case for case in (full_disk, no_room, on_own_disk, standard_output, killed, two_writers, in_place, prepare_outside)}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        inputs()
        CASES[sys.argv[2]]()
        os.chdir("/")
