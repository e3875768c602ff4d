"""Which link a node takes to a host in a plane: tables[node][(plane, target)] = link, hosts and switches alike.

Three sources: what a network does by itself (one shortest path), balanced single paths (`colltopo
generate sssp`), and the file of `colltopo routes --for json`, which realises a schedule.
"""
import json
import os
import tempfile
import zlib
from collections import deque
from dataclasses import dataclass, field

from . import addresses
from .fault import Fault
from .topology import ask_colltopo

FORMAT = "colltopo-routes 1"


@dataclass
class Tables:
    planes: int
    of_node: list  # per node: {(plane, target): link}
    detours: list = field(default_factory=list)  # hops of routes that their planes have no room for
    origin: str = ""


@dataclass(frozen=True)
class Detour:
    """One hop of a route for which its plane has no room: what goes from source to target leaves node by link."""

    source: int
    target: int
    plane: int
    node: int
    link: int


def shortest(graph, hashed=False):
    """One shortest path per pair, not balanced, as networks choose by themselves: among a node's links that are as short,
    the lowest (first come) or, hashed, one by a hash of node and target, as routers with equal-cost paths do."""
    tables = [{} for _ in range(graph.nodes)]
    into = [[] for _ in range(graph.nodes)]
    for number, link in enumerate(graph.links):
        into[link.head].append(number)
    for target in range(graph.hosts):
        hops = {target: 0}
        new = deque([target])
        while new:
            at = new.popleft()
            for number in into[at]:
                tail = graph.links[number].tail
                if tail not in hops:
                    hops[tail] = hops[at] + 1
                    new.append(tail)
        for node in hops:
            if node == target:
                continue
            nearer = [k for k in graph.out[node] if hops.get(graph.links[k].head, graph.nodes) == hops[node] - 1]
            place = zlib.crc32(f"{node}>{target}".encode()) % len(nearer) if hashed else 0
            tables[node][0, target] = nearer[place]
    return Tables(1, tables, origin=f"one shortest path per pair, {'by hash' if hashed else 'lowest link first'}")


def balanced(graph, topo):
    """Single paths that load the busiest link least: the best of dimension order, sssp and ilp as colltopo makes them."""
    best = None
    for algorithm, *options in (("dor",), ("sssp",), ("ilp", "--seconds", "20")):
        with tempfile.TemporaryDirectory() as scratch:
            schedule = os.path.join(scratch, "balanced.sched")
            try:
                report = json.loads(ask_colltopo(["generate", algorithm, topo, *options, "-o", schedule, "--json"]))
                routes = ask_colltopo(["routes", schedule, "--on", topo, "--for", "json", "-o", "-"])
            except Fault:
                if algorithm == "sssp":
                    raise
                continue  # dor: not a grid; ilp: not solved in time
        if best is None or report["achieved"] < best[0] - 1e-9:
            best = (report["achieved"], algorithm, routes)
    tables = parse(graph, best[2], f"colltopo generate {best[1]}")
    return _in_one_plane(graph, tables, json.loads(best[2])["routes"], f"balanced single paths ({best[1]})")


def _in_one_plane(graph, tables, routes, origin):
    """Single paths for messages that know no lanes: those of other planes become detours in plane 0."""
    one = Tables(1, [{key: link for key, link in own.items() if key[0] == 0} for own in tables.of_node], origin=origin)
    for route in routes:
        node = route["source"]
        for link in route["links"]:
            if one.of_node[node][0, route["target"]] != link:
                one.detours.append(Detour(route["source"], route["target"], 0, node, link))
            node = graph.links[link].head
    return one


def load(graph, path):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise Fault(f"{path}: {error.strerror}; expected the output of colltopo routes --for json") from error
    return parse(graph, text, path)


def parse(graph, text, where):
    try:
        root = json.loads(text)
    except ValueError as error:
        raise Fault(f"{where}: {error}; expected the output of colltopo routes --for json") from error
    if not isinstance(root, dict) or root.get("format") != FORMAT:
        raise Fault(f'{where}: format is not "{FORMAT}"; expected the output of colltopo routes --for json')
    if root.get("hosts") != graph.hosts or len(root.get("nodes", [])) != graph.nodes:
        raise Fault(f"{where}: its tables are for {root.get('hosts')} hosts; {graph.name} has {graph.hosts}")
    planes = root["planes"]
    if not 1 <= planes <= addresses.PLANES_MAX:
        raise Fault(f"{where}: {planes} planes; addresses have room for 1 to {addresses.PLANES_MAX}")
    tables = Tables(planes, [{} for _ in range(graph.nodes)], origin=where)
    for at in root["nodes"]:
        for entry in at["entries"]:
            _check_link(graph, at["node"], entry["link"], where)
            tables.of_node[at["node"]][entry["plane"], entry["target"]] = entry["link"]
    for hop in root.get("exceptions", []):
        _check_link(graph, hop["node"], hop["link"], where)
        tables.detours.append(Detour(hop["source"], hop["target"], hop["plane"], hop["node"], hop["link"]))
    return tables


def _check_link(graph, node, link, where):
    if not 0 <= link < len(graph.links) or graph.links[link].tail != node:
        raise Fault(f"{where}: node {node}: link {link} does not leave it; the tables are for another topology")


def next_station(graph, tables, link, plane, target, source=None):
    """The node that a packet must be addressed to when it leaves by `link`: bridges do not appear in it, so behind
    them it is the host at which the path along the tables (and the detours of this source) comes out."""
    node = graph.links[link].head
    if not graph.bridged:
        return node
    detours = {(hop.node, hop.plane, hop.target): hop.link for hop in tables.detours if hop.source == source}
    passed = 0
    while graph.is_switch(node):
        number = detours.get((node, plane, target), tables.of_node[node].get((plane, target)))
        passed += 1
        if number is None or passed > graph.nodes:
            raise Fault(f"{tables.origin}: no way from {graph.name_of(node)} to {graph.name_of(target)} in plane {plane}")
        node = graph.links[number].head
    return node
