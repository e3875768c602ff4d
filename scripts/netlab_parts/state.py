"""The folder of a network, /run/netlab/NAME, and the network that it describes.

A network is a tree of processes under its *hub*, process 1 of a process namespace: when the hub dies the kernel ends every
process in it, and with them go all network namespaces, devices and mounts. So taking a network down is to kill one process
and to remove one folder, whatever has happened before. The folder is made before the first process, under a lock.
"""
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import time

from whole_file import replaced

from . import kernel
from .fault import CANNOT, Fault
from .topology import Graph

ROOT = "/run/netlab"
DEFAULT_NAME = "netlab"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")


def folder(name):
    if not _NAME.fullmatch(name):
        raise Fault(f"name '{name}'; expected letters, digits, '-', '_' and '.', at most 41")
    return os.path.join(ROOT, name)


@contextlib.contextmanager
def locked():
    """One claim or removal at a time, by a lock on the root folder, which goes with the last network. The kernel frees the
    lock of a process that dies."""
    while True:
        try:
            os.makedirs(ROOT, exist_ok=True)
            descriptor = os.open(ROOT, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # removed in between
        except OSError as error:
            raise Fault(f"{ROOT}: {error.strerror}; netlab needs root, or `netlab box TOPO -- COMMAND`", CANNOT) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_still(descriptor):
                yield
                with contextlib.suppress(OSError):  # others are up
                    os.rmdir(ROOT)
                return
        finally:
            os.close(descriptor)


def _is_still(descriptor):
    """Whether the root folder is the one that was opened, not one made since."""
    try:
        return os.stat(ROOT).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def write_json(path, value):
    """Whole or not at all."""
    with replaced(path, encoding="utf-8") as file:
        json.dump(value, file)


def _read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def _process_of(path):
    """The process that a file {"pid", "start"} names, if it lives."""
    about = _read_json(path)
    if about and kernel.start_time(about["pid"]) == about["start"]:
        return about["pid"]
    return None


def this_process():
    return {"pid": os.getpid(), "start": kernel.start_time(os.getpid())}


def claim(name):
    """Makes the folder of a network that is to come up. What a crash left under the name is removed."""
    path = folder(name)
    with locked():
        if os.path.isdir(path):
            if _process_of(f"{path}/network.json"):
                raise Fault(f"a network called {name} is already up; `netlab down --name {name}` takes it down")
            if _process_of(f"{path}/builder.json"):
                raise Fault(f"a network called {name} is being brought up; expected another --name")
            _remove(path)
        os.mkdir(path, 0o755)
        write_json(f"{path}/builder.json", this_process())
    return path


def remove(name):
    """Ends a network, whatever is left of it. Returns False if nothing was."""
    path = folder(name)
    with locked():
        if not os.path.isdir(path):
            return False
        for file in ("builder.json", "network.json"):
            pid = _process_of(f"{path}/{file}")
            if pid and pid != os.getpid():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        _remove(path)
    return True


def _remove(path):
    """The processes of a network hold a lock on its folder's file `alive`: it is free when the last one has gone."""
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(f"{path}/alive", os.O_RDWR | os.O_CLOEXEC)
        deadline = time.monotonic() + 20
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Fault(f"{path}: its processes do not end; see ps -ef | grep netlab", 1) from None
                time.sleep(0.005)
        os.close(descriptor)
    # The hub itself stays until somebody has buried its dead; a process 1 that never does must not hold this up.
    hub = _read_json(f"{path}/network.json")
    deadline = time.monotonic() + 5
    while hub and kernel.start_time(hub["pid"]) == hub["start"] and time.monotonic() < deadline:
        time.sleep(0.005)
    shutil.rmtree(path, ignore_errors=True)


def names():
    """(name, what it is) of every folder, sorted."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(os.listdir(ROOT)):
            path = os.path.join(ROOT, name)
            if _process_of(f"{path}/network.json"):
                found.append((name, "up"))
            elif _process_of(f"{path}/builder.json"):
                found.append((name, "coming up"))
            else:
                found.append((name, "remains of a crash"))
    return found


class Network:
    """A network that is up."""

    def __init__(self, name):
        self.name = name
        self.path = folder(name)
        about = _read_json(f"{self.path}/network.json")
        if about is None or kernel.start_time(about["pid"]) != about["start"]:
            known = [other for other, state in names() if state == "up"]
            there = f"up are {', '.join(known)}" if known else "none is up"
            raise Fault(f"no network called {name}; {there}; expected `netlab up TOPO --name {name}` before")
        self.about = about
        self.hub = about["pid"]
        self.graph = Graph(about["topology"])

    def places(self, node):
        """Namespace files of a node: of its own namespaces, or of the hub where the node is a bridge."""
        inner = self.about["stations"].get(str(node))
        root = f"/proc/{self.hub}" if inner is None else f"/proc/{self.hub}/root/proc/{inner}"
        return {kind: f"{root}/ns/{kind}" for kind in ("mnt", "uts", "ipc", "pid", "net")}

    def head_places(self):
        return {kind: f"/proc/{self.hub}/ns/{kind}" for kind in ("mnt", "uts", "ipc", "pid", "net")}

    def dead(self):
        return set(_read_json(f"{self.path}/dead.json") or [])

    def set_dead(self, nodes):
        write_json(f"{self.path}/dead.json", sorted(nodes))

    def need_node(self, text):
        node = self.graph.node(text)
        if node is None:
            raise Fault(f"no node '{text}' in {self.graph.name}; expected a name such as {self.graph.name_of(0)}")
        return node

    def need_host(self, text):
        node = self.need_node(text)
        if self.graph.is_switch(node):
            raise Fault(f"{text} is a switch of {self.graph.name}; expected a host")
        if node in self.dead():
            raise Fault(f"host {text} has been killed", 1)
        return node
