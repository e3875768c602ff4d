"""What a schedule puts on each link, from its file: messages with their lanes, and the routes of the lanes."""
import re

_OPS = re.compile(r"(send) (\d+) step \d+(?: lane (\d+))? (.*) ~[0-9a-f]{8}")
_ROUTE = re.compile(r"route (\d+) > (\d+) lane (\d+) layer \d+ links ([\d ]+) ~[0-9a-f]{8}")
_RUN = re.compile(r"\+(\d+)")


class Loads:
    """chunks: per shard. of_link[k]: chunks that cross link k in one call."""

    def __init__(self, path, links):
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        routes, messages, rank = {}, [], None
        self.chunks = 1
        for line in lines:
            word = line.split(" ", 1)[0]
            if word == "chunks":
                self.chunks = int(line.split()[1])
            elif word == "section" and " ops " in line:
                rank = int(line.split()[1])
            elif word == "send":
                _, peer, lane, runs = _OPS.match(line).groups()
                messages.append((rank, int(peer), int(lane or 0), sum(map(int, _RUN.findall(runs)))))
            elif word == "route":
                source, target, lane, hops = _ROUTE.match(line).groups()
                routes[int(source), int(target), int(lane)] = [int(hop) for hop in hops.split()]
        self.of_link = [0] * links
        for source, target, lane, chunks in messages:
            for link in routes[source, target, lane]:
                self.of_link[link] += chunks
