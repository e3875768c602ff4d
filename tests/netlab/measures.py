"""What cases measure: bytes on links, the rate between two hosts, whether one reaches another."""
import json
import subprocess
import time

from sandbox import NETLAB, in_time, netlab


def link_counters():
    return json.loads(netlab("bytes", "--json").stdout)["links"]


def wait_until(fact, what, seconds=120):
    end = time.monotonic() + seconds
    while not fact():
        in_time(time.monotonic() < end, f"after {seconds} s still not so: {what}")
        time.sleep(0.05)

SEND = """
import socket, sys, time
with socket.create_connection((sys.argv[1], 7000)) as s:
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        s.sendall(bytes(16384))
"""
RECEIVE = """
import socket, time
with socket.create_server(("0.0.0.0", 7000)) as server:
    print("listening", flush=True)
    s, _ = server.accept()
    counted, begin = 0, None
    while part := s.recv(65536):
        now = time.monotonic()
        if begin is None:
            first, begin = now, 0
        if now - first < 0.5:
            continue  # slow start
        if not begin:
            begin = now
        else:
            counted += len(part)
        last = now
    print(counted * 8 / (last - begin), flush=True)
"""


def goodput(sender, receiver, address, program=SEND):
    """bits per second"""
    with subprocess.Popen(
        [NETLAB, "exec", receiver, "--", "python3", "-c", RECEIVE], stdout=subprocess.PIPE, text=True
    ) as listening:
        listening.stdout.readline()
        netlab("exec", sender, "--", "python3", "-c", program, address)
        return float(listening.stdout.readline())


def lane_address(node, plane):
    return f"10.{100 + plane}.{node // 256}.{node % 256}"


def reaches(host, address):
    """Whether a connection comes about (or is refused by the peer, which is an answer too) within three seconds."""
    code = f"import socket; s = socket.socket(); s.settimeout(3); print(s.connect_ex(('{address}', 9)))"
    return netlab("exec", host, "--", "python3", "-c", code).stdout.strip() == "111"  # ECONNREFUSED


def routes_of(algorithm, topo):
    for command in (
        ["colltopo", "generate", algorithm, topo, "-o", "routed.sched"],
        ["colltopo", "routes", "routed.sched", "--for", "json", "-o", "routed.json"],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
    return "routed.json"
