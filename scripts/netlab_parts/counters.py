"""`netlab bytes`: what has crossed every directed link, by the counters of the device at its tail.

A device counts a packet when it hands it to the cable, so what a full queue dropped is not in it. Counted are Ethernet
frames; up to 16 KiB cross as one frame, so headers are about 0.5% of large messages, and acknowledgements a little.
"""
import json
import os
import subprocess

from . import addresses, kernel, state


def _devices():
    """(bytes, packets) sent by each device of the network namespace of this process."""
    sent = {}
    with open("/proc/thread-self/net/dev", encoding="ascii") as file:
        for line in file.readlines()[2:]:
            name, _, numbers = line.partition(":")
            fields = numbers.split()
            sent[name.strip()] = (int(fields[8]), int(fields[9]))
    return sent


def _in_each_place(network, read):
    """{node: read()} in the network namespace of every station and (under -1) of the hub. From a child: one way only."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        found = {}
        places = {int(node): network.places(int(node)) for node in network.about["stations"]}
        places[-1] = network.head_places()
        for node, files in places.items():
            try:
                kernel.enter(files, ["net"])
            except OSError:
                continue  # a host that has been killed
            found[node] = read()
        with os.fdopen(send, "w", encoding="ascii") as out:
            json.dump(found, out)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive, encoding="ascii") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return {int(node): devices for node, devices in json.loads(text or "{}").items()}


def _drops():
    """Packets that the queues of each device have dropped."""
    done = subprocess.run(["tc", "-s", "-j", "qdisc", "show"], capture_output=True, text=True, check=False)
    dropped = {}
    for queue in json.loads(done.stdout or "[]"):
        if queue.get("root"):  # counts those of its classes
            dropped[queue["dev"]] = queue.get("drops", 0)
    return dropped


def _of_links(network, read, nothing):
    by_node = _in_each_place(network, read)
    values = []
    for number, link in enumerate(network.graph.links):
        node = link.tail if str(link.tail) in network.about["stations"] else -1
        values.append(by_node.get(node, {}).get(addresses.link_device(number), nothing))
    return values


def _since(network):
    try:
        with open(f"{network.path}/baseline.json", encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def reset(network):
    state.write_json(
        f"{network.path}/baseline.json",
        {"sent": _of_links(network, _devices, (0, 0)), "drops": _of_links(network, _drops, 0)},
    )


def read(network, drops=False):
    """One row per link, in the order of links, since `reset` or since the network is up."""
    graph = network.graph
    base = _since(network)
    sent = _of_links(network, _devices, (0, 0))
    before = base.get("sent", [(0, 0)] * len(sent))
    rows = []
    for number, link in enumerate(graph.links):
        rows.append(
            {
                "link": number,
                "tail": graph.name_of(link.tail),
                "head": graph.name_of(link.head),
                # A killed host's devices are gone, with what they counted.
                "bytes": max(0, sent[number][0] - before[number][0]),
                "packets": max(0, sent[number][1] - before[number][1]),
            }
        )
    if drops:
        old = base.get("drops", [0] * len(rows))
        for row, now in zip(rows, _of_links(network, _drops, 0)):
            row["drops"] = max(0, now - old[row["link"]])
    return rows
