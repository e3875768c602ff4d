"""Cases about scripts/demo: it shows what it promises, whoever runs it, and leaves nothing when it is ended on its way."""
import atexit
import json
import os
import shutil
import signal
import subprocess
import time
import xml.dom.minidom

from measures import wait_until
from sandbox import TOP, Skip, as_nobody, assert_same, in_time, need_a_nobody, picture, processes

DEMO = os.path.join(TOP, "scripts", "demo")
FOLDER = "/tmp/netlab-demo"


def _empty_folder(mode=0o755):
    """Where the sources are in /tmp, the sandbox has none of its own: cases find what was there before, and clean up."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    os.chmod(FOLDER, mode)
    atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def _start(folder, *options, **more):
    environment = dict(os.environ, COLLTOPO_BUILD=os.environ["NETLAB_TEST_BUILD"], HOME="/nonexistent")
    return subprocess.Popen([DEMO, folder, *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", **more)


def _shown(folder, **more):
    """What the short demo prints and writes; it must be good."""
    done = _start(folder, "--short", **more)
    said, _ = done.communicate(timeout=400)
    if "two made-up nodes instead" in said:
        raise Skip(said.strip().splitlines()[0])
    assert done.returncode == 0, f"status {done.returncode}: {said}"
    with open(f"{folder}/demo.json", encoding="utf-8") as file:
        result = json.load(file)
    assert result["correct"] and result["good"], result
    assert result["calls"]["native"]["by_topo"] == 0 and result["calls"]["topo"]["by_topo"] == result["calls"]["topo"]["made"] > 0, result
    # Bytes, not times: the default routes load one link with 15 shards, the schedule with 8.
    assert result["inverse_F"] == 8, result
    in_time(1.6 < result["busiest_link_gain"] < 2.1, result)
    for part in ("gain", "bound", "every value checked: right", f"{folder}/demo.svg", "--mca coll_topo_alltoall_algorithm file:"):
        assert part in said, f"'{part}' is not in: {said}"
    words = xml.dom.minidom.parse(f"{folder}/demo.svg").documentElement.toxml()
    for part in ("Open MPI alone: MB on every link", "one variable set", "bound", "3D transform"):
        assert part in words, f"'{part}' is not in the picture"
    return result


def demo():
    _empty_folder()
    before = picture()
    _shown(FOLDER)
    after = picture()
    after["files"] = [name for name in after["files"] if not name.startswith(FOLDER)]
    assert_same(before, after)


def demo_as_nobody():
    """In a user namespace."""
    need_a_nobody(DEMO)
    _empty_folder(0o777)
    _shown(FOLDER, preexec_fn=as_nobody)


def demo_ended_leaves_nothing():
    need_a_nobody(DEMO)
    before = picture()
    for number, user in ((signal.SIGKILL, None), (signal.SIGKILL, as_nobody), (signal.SIGTERM, None), (signal.SIGINT, None)):
        _empty_folder(0o777)  # what one user wrote, another cannot write again
        running = _start(FOLDER, start_new_session=True, preexec_fn=user)
        wait_until(lambda: running.poll() is not None or len(processes("colltopo-fft3d --grid")) >= 16, "its first job runs")
        assert running.poll() is None, f"it ended before: {running.communicate()[0]}"
        time.sleep(0.3)
        os.kill(running.pid, number)
        running.communicate(timeout=120)
        assert running.returncode != 0, "an interrupted demo must not report success"
        wait_until(lambda: picture()["processes"] == before["processes"], f"signal {number} ended all")
        after = picture()
        after["files"] = [name for name in after["files"] if not name.startswith(FOLDER)]
        assert_same(before, after)


def demo_without_namespaces():
    """The other demo takes its place and says why; a machine without namespaces is one whose unshare always fails."""
    _empty_folder()
    os.makedirs(f"{FOLDER}/bin")
    with open(f"{FOLDER}/bin/unshare", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexit 1\n")
    os.chmod(f"{FOLDER}/bin/unshare", 0o755)
    os.environ["PATH"] = f"{FOLDER}/bin:{os.environ['PATH']}"
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)  # the sandbox's, by which mpirun reaches its ranks
    running = _start(FOLDER, "--short")
    said, _ = running.communicate(timeout=400)
    assert running.returncode == 0, f"status {running.returncode}: {said}"
    for part in ("does not permit user namespaces", "two made-up nodes instead", "1 node, groups of 4 ranks", "messages between groups", "coll/topo TRA2"):
        assert part in said, f"'{part}' is not in: {said}"
    assert not os.path.exists(f"{FOLDER}/demo.svg"), "a picture of nothing"
