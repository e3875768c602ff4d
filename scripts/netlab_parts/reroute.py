"""`netlab reroute`: other tables for a network that is up, such as those of a schedule made without a link that has been cut.

Tables are for a topology of their own, in which links (and hosts) may be missing and others are numbered anew: nodes are
found again by their names, links by their ends.
"""
import json
from collections import defaultdict

from . import cut, plan, routing, state, station, topology
from .fault import Fault
from .up import write_lines


def reroute(network, path, of=None):
    """Returns how many routes and rules there are now."""
    graph = network.graph
    if of is None:
        of = _topology_of(path)
    _, other = topology.load(of)
    tables = _carried_over(other, routing.load(other, path), graph)
    shaping = plan.Shaping(**network.about["shaping"])
    planes = max(network.about["planes"], tables.planes)
    routes = 0
    for node in map(int, network.about["stations"]):
        if node in network.dead():
            continue
        files = f"{network.path}/nodes/{node}"
        own = plan.station(graph, tables, shaping, node, network.about["stub"])
        routes += len(own.routes)
        with open(f"{files}.rules", encoding="utf-8") as file:
            old = [line.replace("rule add", "rule del", 1).strip() for line in file]
        lanes = plan.lanes(graph, node, range(network.about["planes"], planes), network.about["stub"])
        write_lines(f"{files}.change", old + lanes + own.routes + own.rules)
        cut.at(network, node, lambda files=files: station.batch("ip", f"{files}.change"))
        write_lines(f"{files}.routes", own.routes)
        write_lines(f"{files}.rules", own.rules)
    network.about["planes"] = planes
    state.write_json(f"{network.path}/network.json", network.about)
    return {"routes": routes, "rules": len(tables.detours), "planes": tables.planes, "routes_are": tables.origin}


def _topology_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["topology_name"]
    except OSError as error:
        raise Fault(f"{path}: {error.strerror}; expected the output of colltopo routes --for json") from error
    except (ValueError, KeyError, TypeError) as error:
        raise Fault(f"{path}: no topology_name; expected the output of colltopo routes --for json") from error


def _carried_over(other, tables, graph):
    node = {}
    for number, name in enumerate(other.node_names):
        if name not in graph.node_names:
            raise Fault(f"{tables.origin}: node {name} is not in {graph.name}; expected tables of it or of a part of it")
        node[number] = graph.node_names.index(name)
    there = defaultdict(list)
    for number, link in enumerate(graph.links):
        there[link.tail, link.head].append(number)
    link_of = []
    for link in other.links:
        ends = (node[link.tail], node[link.head])
        if not there[ends]:
            names = f"{other.node_names[link.tail]} -> {other.node_names[link.head]}"
            raise Fault(f"{tables.origin}: link {names} is not in {graph.name}; expected tables of it or of a part of it")
        link_of.append(there[ends].pop(0))
    carried = routing.Tables(tables.planes, [{} for _ in range(graph.nodes)], origin=tables.origin)
    for number, own in enumerate(tables.of_node):
        carried.of_node[node[number]] = {(plane, node[target]): link_of[link] for (plane, target), link in own.items()}
    carried.detours = [
        routing.Detour(node[hop.source], node[hop.target], hop.plane, node[hop.node], link_of[hop.link]) for hop in tables.detours
    ]
    return carried
