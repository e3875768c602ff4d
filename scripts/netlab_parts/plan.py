"""The plan of a network: every command that `up` will run, as text for `ip -batch`, `tc -batch` and `bridge -batch`.

Nothing here touches the machine. Batches of a station (a host, or a switch that forwards) are written so that those for
routes can be run again, which is what `cut --restore` does: a device that goes down loses its routes and neighbours.
"""
from dataclasses import dataclass, replace

from . import addresses, routing
from .fault import Fault

# A queue that never drops keeps packets for longer than TCP's usual 200 ms, which would then be taken for losses.
DEEP_QUEUE_BYTES = 512 * 1024
HOST_QUEUE_BYTES = 4 * 1024 * 1024
UNUSED_TABLE = 1  # of routes that no packet takes


@dataclass
class Shaping:
    rate: float  # bits per second of the slowest link; others in proportion
    queue: int  # bytes that wait before a link of a switch or of a host that forwards
    shaper: str = "htb"
    delay_us: float = 0.0
    delay_by: str = "netem"  # or "wire" (wire.py)
    burst: int = 16 * 1024  # bytes that a link which was idle sends at once: what bridges the milliseconds of a busy processor

    @property
    def deep(self):
        return self.queue >= DEEP_QUEUE_BYTES


@dataclass
class StationPlan:
    devices: list  # ip: addresses, devices up
    neighbours: list  # ip
    routes: list  # ip; those of detours are in tables of their own
    rules: list  # ip: which messages take detours
    shaping: list  # tc


@dataclass
class CableEnd:
    node: int
    device: str
    mac: str


def cables(graph):
    """Both ends of every cable."""
    found = []
    for number, link in enumerate(graph.links):
        mate = graph.mate[number]
        if mate is not None and mate < number:
            continue  # the same cable as its mate
        far = addresses.receiver_device(number) if mate is None else addresses.link_device(mate)
        near = CableEnd(link.tail, addresses.link_device(number), addresses.link_mac(number))
        found.append((near, CableEnd(link.head, far, addresses.far_mac(graph, number))))
    return found


def wires(graph, place):
    """ip commands for every cable, run in the hub. place[node]: process whose network namespace the node's devices are in."""
    return [
        f"link add {near.device} address {near.mac} netns {place[near.node]} "
        f"type veth peer name {far.device} address {far.mac} netns {place[far.node]}"
        for near, far in cables(graph)
    ]


def management_wires(graph, place):
    """The same for the management network."""
    return [f"link add m{host} type veth peer name {addresses.MANAGEMENT} netns {place[host]}" for host in range(graph.hosts)]


def hub_devices(graph, shaping):
    """ip commands of the hub: the management bridge, and a bridge per switch where switches are bridges."""
    bridge = "type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
    lines = [
        f"link add {addresses.MANAGEMENT} {bridge}",
        f"addr add {addresses.HEAD_ADDRESS}/16 dev {addresses.MANAGEMENT}",
        f"link set {addresses.MANAGEMENT} up",
    ]
    lines += [f"link set m{host} master {addresses.MANAGEMENT} up" for host in range(graph.hosts)]
    if graph.bridged:
        for switch in graph.switches:
            lines.append(f"link add b{switch} {bridge}")
            lines.append(f"link set b{switch} up")
            lines += [f"link set {addresses.link_device(k)} master b{switch}" for k in graph.out[switch]]
            lines += [_link_up(addresses.link_device(k), shaping) for k in graph.out[switch]]
    return lines


def hub_forwarding(graph):
    """bridge commands: which port leads to which host, so that nothing is flooded and every byte is where it belongs."""
    lines = []
    if not graph.bridged:
        return lines
    for host in range(graph.hosts):
        for number in graph.out[host]:
            first = graph.links[number].head
            if not graph.is_switch(first):
                continue
            port = {first: graph.mate[number]}
            new = [first]
            while new:
                at = new.pop()
                for k in graph.out[at]:
                    head = graph.links[k].head
                    if graph.is_switch(head) and head not in port:
                        port[head] = graph.mate[k]
                        new.append(head)
            lines += [
                f"fdb replace {addresses.link_mac(number)} dev {addresses.link_device(k)} master static"
                for _, k in sorted(port.items())
            ]
    return lines


def hub_shaping(graph, shaping):
    lines = []
    for switch in graph.switches if graph.bridged else ():
        for number in graph.out[switch]:
            lines += _shaped_link(graph, number, shaping)
    return lines


def station(graph, tables, shaping, node, stub):
    """The plan of a host or of a switch that forwards. stub: the kind of device that carries an address (features.py)."""
    devices = []
    if not graph.is_switch(node):
        devices.append(f"addr add {addresses.management_address(node)}/16 dev {addresses.MANAGEMENT}")
        devices.append(f"link set {addresses.MANAGEMENT} up")
    devices += lanes(graph, node, range(tables.planes), stub)
    for number, link in enumerate(graph.links):
        if link.head == node and graph.mate[number] is None:
            devices.append(f"link set {addresses.receiver_device(number)} up")
    devices += [_link_up(addresses.link_device(k), shaping) for k in graph.out[node]]
    rules, detours = _detours(graph, tables, shaping, node)
    return StationPlan(
        devices,
        _neighbours(graph, node),
        _routes(graph, tables, shaping, node) + detours,
        rules,
        [line for k in graph.out[node] for line in _shaped_link(graph, k, shaping)],
    )


def lanes(graph, node, planes, stub):
    """ip commands that give a station its addresses in these planes."""
    lines = []
    for plane in planes:
        lane = addresses.lane_device(plane)
        peer = f" peer name stub{plane}" if stub == "veth" else ""
        lines.append(f"link add {lane} type {stub}{peer}")
        if stub == "veth":
            lines.append(f"link set stub{plane} up")
        lines.append(f"link set {lane} up")
        lines.append(f"addr add {addresses.lane_address(node, plane)}/32 dev {lane}")
        # Since 1.20 UCX uses a device only for peers that some table has a route to by it, which no other is more exact
        # than. No rule leads to this table.
        for other in range(graph.hosts):
            if other != node:
                lines.append(f"route add {addresses.lane_address(other, plane)}/32 dev {lane} table {UNUSED_TABLE}")
    return lines


def _link_up(device, shaping):
    # Packets of up to 16 KiB cross a veth whole: ten times fewer than Ethernet's, and still fair among flows. What follows
    # an idle time goes as one such packet whatever burst is left, so small bursts ask for Ethernet's own.
    return f"link set {device} gso_max_size {min(16384, max(2000, shaping.burst))} up"


def neighbours(graph, node, number):
    """Nodes that a station reaches through one of its links without another station between, and their MAC addresses."""
    head = graph.links[number].head
    if not graph.bridged or not graph.is_switch(head):
        return {head: addresses.far_mac(graph, number)}
    found = {}
    for switch in sorted(graph.segment_of(head)):
        for k in graph.out[switch]:
            other = graph.links[k].head
            if not graph.is_switch(other) and other != node:
                found.setdefault(other, addresses.far_mac(graph, k))
    return found


def _neighbours(graph, node):
    return [
        f"neigh replace {addresses.lane_address(other, 0)} lladdr {mac} dev {addresses.link_device(k)} nud permanent"
        for k in graph.out[node]
        for other, mac in neighbours(graph, node, k).items()
    ]


def _route(graph, shaping, node, plane, target, link, via, table=""):
    patience = " rto_min 1s" if shaping.deep else ""
    return (
        f"route replace {addresses.lane_address(target, plane)}/32 via {addresses.lane_address(via, 0)} "
        f"dev {addresses.link_device(link)} onlink src {addresses.lane_address(node, plane)}{patience}{table}"
    )


def _routes(graph, tables, shaping, node):
    return [
        _route(graph, shaping, node, plane, target, link, routing.next_station(graph, tables, link, plane, target))
        for (plane, target), link in sorted(tables.of_node[node].items())
    ]


def _detours(graph, tables, shaping, node):
    """Rules and the routes of their tables, one of each per hop that is not as its plane says."""
    rules, routes = [], []
    for hop in tables.detours:
        if hop.node != node:
            continue
        number = 1000 + len(rules)
        source = addresses.lane_address(hop.source, hop.plane)
        rules.append(f"rule add from {source} to {addresses.lane_address(hop.target, hop.plane)} lookup {number}")
        via = routing.next_station(graph, tables, hop.link, hop.plane, hop.target, hop.source)
        routes.append(_route(graph, shaping, node, hop.plane, hop.target, hop.link, via, f" table {number}"))
    return rules, routes


def rate_of(graph, number, shaping):
    """bits per second"""
    return shaping.rate * graph.links[number].bandwidth / graph.slowest_bandwidth()


def _shaped_link(graph, number, shaping):
    """A host that is no switch waits for its network card instead of dropping its own packets, and its acknowledgements do not
    wait behind its data (Linux' default, fq_codel, prefers sparse flows): whatever the switches have, its queue is deep and
    acknowledgements go first."""
    link = graph.links[number]
    if graph.is_switch(link.head) and not graph.is_switch(link.tail):
        shaping = replace(shaping, shaper="htb", queue=max(shaping.queue, HOST_QUEUE_BYTES))
    return shaped(addresses.link_device(number), rate_of(graph, number, shaping), shaping)


def shaped(device, rate, shaping):
    """tc commands that make a device as fast as its link, with a finite queue before it.

    htb: two classes, TCP's packets without data first: those as long as their headers, with up to four blocks of SACK, time
    stamps being off. Behind the data of the other direction acknowledgements would halve the speed of every connection.
    Short data must not go first: it would overtake its own connection's data, which TCP takes for a loss.

    tbf: one first-in-first-out queue, as in a cheap switch.
    """
    bits = f"{int(rate)}bit"
    by_netem = shaping.delay_us and shaping.delay_by == "netem"
    if shaping.shaper == "tbf":
        # What is not sent in time is lost for the rate.
        burst = max(shaping.burst, int(rate / 8 / 1000))  # bytes; what a millisecond carries at high rates
        lines = [f"qdisc add dev {device} root handle 1: tbf rate {bits} burst {burst} limit {shaping.queue}"]
        if by_netem:
            lines.append(_netem(device, "1:1", "10:", rate, shaping))
        return lines
    bursts = f"burst {shaping.burst} cburst {shaping.burst} quantum 3000"
    lines = [
        f"qdisc add dev {device} root handle 1: htb default 20 r2q 1",
        f"class add dev {device} parent 1: classid 1:1 htb rate {bits} ceil {bits} {bursts}",
    ]
    for minor, own_rate, priority in ((10, bits, 0), (20, "8kbit", 1)):
        lines.append(f"class add dev {device} parent 1:1 classid 1:{minor} htb rate {own_rate} ceil {bits} prio {priority} {bursts}")
        if by_netem:
            lines.append(_netem(device, f"1:{minor}", f"{minor}:", rate, shaping))
        else:
            lines.append(f"qdisc add dev {device} parent 1:{minor} handle {minor}: bfifo limit {shaping.queue}")
    for words in (5, 8, 10, 12, 14):
        lines.append(
            f"filter add dev {device} parent 1: protocol ip prio 1 u32 match u8 0x45 0xff at 0 match u8 6 0xff at 9 "
            f"match u16 {20 + 4 * words} 0xffff at 2 match u8 {words << 4:#x} 0xf0 at 32 flowid 1:10"
        )
    return lines


def _netem(device, parent, handle, rate, shaping):
    """netem counts packets, those that are under way included."""
    under_way = rate / 8 * shaping.delay_us * 1e-6
    packets = int((shaping.queue + under_way) / 1514) + 1
    return f"qdisc add dev {device} parent {parent} handle {handle} netem delay {shaping.delay_us:g}us limit {packets}"


def host_file(graph):
    """/etc/hosts of every host: its names on the management network, and NAME.lane0 for data."""
    lines = ["127.0.0.1 localhost", f"{addresses.HEAD_ADDRESS} head"]
    for host in range(graph.hosts):
        lines.append(f"{addresses.management_address(host)} {graph.name_of(host)}")
        lines.append(f"{addresses.lane_address(host, 0)} {graph.name_of(host)}.lane0")
    return lines


def check_size(graph):
    """mpirun and the management network have room for so many."""
    if graph.hosts > 1000 or graph.nodes > 65536:
        raise Fault(f"{graph.name}: {graph.hosts} hosts; a box has room for 1000")
