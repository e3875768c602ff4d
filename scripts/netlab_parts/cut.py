"""`netlab cut` takes cables away and gives them back; `netlab kill` ends a host."""
import contextlib
import os
import signal
import subprocess

from . import addresses, kernel, station
from .fault import WRONG, Fault


def cut(network, first, second, restore=False):
    """All cables between two nodes, both directions. Returns the links concerned."""
    graph = network.graph
    a, b = network.need_node(first), network.need_node(second)
    links = [k for k, link in enumerate(graph.links) if {link.tail, link.head} == {a, b}]
    if not links:
        raise Fault(f"{first} - {second} is not a link of {graph.name}; expected two nodes with a cable between them")
    dead = network.dead() & {a, b}
    if dead:
        raise Fault(f"host {graph.name_of(min(dead))} has been killed; its links are down", WRONG)
    for k in links:
        _set(network, graph.links[k].tail, [addresses.link_device(k)], restore)
        if graph.mate[k] is None:
            _set(network, graph.links[k].head, [addresses.receiver_device(k)], restore)
    if restore:
        # A device that goes down loses its neighbours and routes.
        for node in sorted({a, b}, key=graph.is_switch):
            if str(node) in network.about["stations"]:
                at(network, node, lambda node=node: _give_back(f"{network.path}/nodes/{node}"))
            else:
                at(network, node, _wait_for_ports(graph, links))
    return links


def _give_back(files):
    station.batch("ip", f"{files}.neighbours", go_on=True)
    # What is of links that are still cut cannot be; it comes back with them.
    station.batch("ip", f"{files}.routes", go_on=True)


def _wait_for_ports(graph, links):
    return lambda: station.wait_for_bridges([addresses.link_device(k) for k in links if graph.is_switch(graph.links[k].tail)])


def kill(network, name):
    """The host's links go down, then all its processes end."""
    graph = network.graph
    host = network.need_host(name)
    for k, link in enumerate(graph.links):
        if link.head == host:
            _set(network, link.tail, [addresses.link_device(k)], False)
    # Its own first process is numbered as the hub sees it; entering the hub's process namespace would need a fork too.
    pid = _outer(network, host)
    network.set_dead(network.dead() | {host})
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _outer(network, host):
    """The process number, here, of a host's first process: the one whose process namespace is the host's and which is
    number 1 there."""
    wanted = os.stat(network.places(host)["pid"]).st_ino
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{entry}/ns/pid").st_ino != wanted:
                continue
            with open(f"/proc/{entry}/status", encoding="ascii", errors="replace") as status:
                numbers = next(line.split()[1:] for line in status if line.startswith("NSpid:"))
            if numbers[-1] == "1":
                return int(entry)
    raise Fault(f"host {network.graph.name_of(host)} has no processes any more", WRONG)


def _set(network, node, devices, up):
    def work():
        for device in devices:
            command = ["ip", "link", "set", device, "up" if up else "down"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise OSError(0, f"{' '.join(command)}: {done.stderr.strip()}")

    at(network, node, work)


def at(network, node, work):
    """work() in the network namespace of a node, in a child."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            kernel.enter(network.places(node), ["net"])
            work()
            status = 0
        except OSError as error:
            os.write(2, f"netlab: {network.graph.name_of(node)}: {error.strerror}\n".encode())
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1] != 0:
        raise Fault(f"{network.graph.name_of(node)}: not done", WRONG)
