"""The graph of a network as `colltopo topology TOPO -o -` writes it: hosts first, then switches, directed links.

A cable is a link and its reverse. `mate[k]` is the link that shares the cable of link k, or None for a one-way link; of
several cables between the same two nodes the i-th link there belongs to the i-th link back.
"""
import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass

from .fault import Fault

# Of a host: what a resolver and mpirun take for a name and not for a number or an address.
_HOST_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,40}")
HEAD = "head"  # where mpirun runs; no host may be called so


@dataclass(frozen=True)
class Link:
    tail: int
    head: int
    bandwidth: float  # bytes per second


class Graph:
    def __init__(self, native):
        self.name = native["name"]
        self.hosts = len(native["hosts"])
        self.node_names = list(native["hosts"]) + list(native["switches"])
        self.links = [Link(link["tail"], link["head"], link["bandwidth"]) for link in native["links"]]
        self.out = [[] for _ in self.node_names]  # links that leave a node, lowest first
        for number, link in enumerate(self.links):
            self.out[link.tail].append(number)
        self.mate = self._mates()
        self.host_names = self._host_names()
        self.bridged, self.why_forwarded = self._switching()

    @property
    def nodes(self):
        return len(self.node_names)

    @property
    def switches(self):
        return range(self.hosts, self.nodes)

    def is_switch(self, node):
        return node >= self.hosts

    def name_of(self, node):
        """How the node is called in the network: a host's host name, a switch's name in the topology."""
        return self.host_names[node] if node < self.hosts else self.node_names[node]

    def node(self, text):
        """The node of this name (in the network or in the topology), or None."""
        for names in (self.host_names, self.node_names):
            if text in names:
                return names.index(text)
        return None

    def slowest_bandwidth(self):
        return min(link.bandwidth for link in self.links)

    def _mates(self):
        between = defaultdict(list)
        for number, link in enumerate(self.links):
            between[link.tail, link.head].append(number)
        mate = [None] * len(self.links)
        for (tail, head), numbers in between.items():
            for one, other in zip(numbers, between.get((head, tail), [])):
                mate[one] = other
        return mate

    def _host_names(self):
        names = self.node_names[: self.hosts]
        if all(_HOST_NAME.fullmatch(name) for name in names) and len(set(names)) == len(names) and HEAD not in names:
            return names
        return [f"n{host}" for host in range(self.hosts)]

    def _switching(self):
        """Whether every switch can be a bridge: bridges flood, so cables among switches must form a forest."""
        group = {switch: switch for switch in self.switches}

        def root(switch):
            while group[switch] != switch:
                switch = group[switch]
            return switch

        for number, link in enumerate(self.links):
            if not self.is_switch(link.tail) and not self.is_switch(link.head):
                continue
            if self.mate[number] is None:
                return False, f"link {number} ({self.name_of(link.tail)} -> {self.name_of(link.head)}) goes one way only"
            if self.is_switch(link.tail) and self.is_switch(link.head) and number < self.mate[number]:
                if root(link.tail) == root(link.head):
                    return False, f"{self.name_of(link.tail)} - {self.name_of(link.head)} closes a cycle of switches"
                group[root(link.tail)] = root(link.head)
        return True, ""

    def segment_of(self, switch):
        """Switches that bridges make one Ethernet with this one, itself included."""
        found, new = {switch}, [switch]
        while new:
            for number in self.out[new.pop()]:
                head = self.links[number].head
                if self.is_switch(head) and head not in found:
                    found.add(head)
                    new.append(head)
        return found


def colltopo():
    """The command `colltopo`: of the build folder beside the script, else of PATH."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    for preset in ("release", "no-mpi", "dev"):
        built = os.path.join(top, "build", preset, "bin", "colltopo")
        if os.access(built, os.X_OK):
            return built
    found = shutil.which("colltopo")
    if found is None:
        raise Fault(f"no program colltopo in {top}/build/release/bin or PATH; expected a build: scripts/test release")
    return found


def ask_colltopo(arguments):
    """Standard output of a colltopo command; its own message if it fails."""
    done = subprocess.run([colltopo(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"colltopo {' '.join(arguments)}: status {done.returncode}"]
        raise Fault(lines[0])
    return done.stdout


def load(topo):
    """TOPO as its file has it, and its graph."""
    native = json.loads(ask_colltopo(["topology", topo, "-o", "-"]))
    return native, Graph(native)
