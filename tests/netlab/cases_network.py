"""Cases about the network itself: rates, delays, cuts, and that nothing is left of it. Asserts that fail say what was seen."""
import json
import os
import signal
import subprocess
import time

from measures import SEND, goodput, lane_address, link_counters, reaches, routes_of, wait_until
from sandbox import CANNOT, NETLAB, as_nobody, assert_same, in_time, need_a_nobody, netlab, picture, processes, start


def nothing_is_left():
    before = picture()
    for topo in ("hypercube:3", "switch:4", "mesh:2/ranks:2", "fattree:4", "kautz:6:2"):
        about = json.loads(netlab("up", topo, "--json").stdout)
        assert about["hosts"] == len(processes("netlab:")) - 1 - (about["switches"] if topo.startswith("fat") else 0), about
        netlab("run", "--", "true")
        netlab("down")
        assert_same(before, picture())


def start_half(*arguments):
    """On its way, however fast the machine is at the moment."""
    rising = start(*arguments)
    while not os.path.isdir("/run/netlab/netlab/nodes"):
        assert rising.poll() is None, f"{arguments} ended early"
        time.sleep(0.01)
    return rising


def killed_up_leaves_nothing():
    before = picture()
    begin = time.monotonic()
    netlab("up", "torus:3x3x3")
    whole = time.monotonic() - begin
    netlab("down")
    unfinished = 0
    for part in range(1, 13):
        rising = start("up", "torus:3x3x3")
        time.sleep(whole * part / 14)
        rising.kill()
        unfinished += rising.wait() != 0
        netlab("down", "--all")
        assert_same(before, picture())
    in_time(unfinished >= 5, f"only {unfinished} of 12 were killed on their way")
    for number in (signal.SIGINT, signal.SIGTERM):
        rising = start_half("up", "torus:3x3x3")
        rising.send_signal(number)
        assert rising.wait() != 0, f"up survived {number}"
        assert_same(before, picture())  # it has cleaned up itself
    # What a crash left does not stand in the way of the next network of that name.
    rising = start_half("up", "torus:3x3x3")
    rising.kill()
    rising.wait()
    netlab("up", "ring:3")
    netlab("down")
    assert_same(before, picture())


def rates():
    links = [(0, 1, 100), (1, 0, 100), (1, 2, 1000), (2, 1, 1000)]
    network = {
        "colltopo-topology": 1,
        "name": "slow and fast",
        "hosts": ["a", "b", "c"],
        "switches": [],
        "links": [{"tail": t, "head": h, "bandwidth": b, "latency": 1e-6} for t, h, b in links],
    }
    with open("rates.json", "w", encoding="utf-8") as file:
        json.dump(network, file)
    payload = 1460 / 1514  # of an Ethernet frame of TCP without time stamps
    for shaper in ("htb", "tbf"):
        netlab("up", "rates.json", "--rate", "3mbit", "--shaper", shaper, "--queue", "256k")
        for sender, receiver, rate in (("a", "b", 3e6), ("c", "b", 30e6), ("a", "c", 3e6)):
            for measured in (goodput(sender, receiver, lane_address("abc".index(receiver), 0)) for _ in range(3)):
                if 0.9 < measured / (rate * payload) < 1.1:
                    break
            in_time(0.9 < measured / (rate * payload) < 1.1, f"{shaper}: {sender} to {receiver}: {measured:.3g} bit/s of {rate:.3g}")
        netlab("down")


def order_is_kept():
    """Short packets with data stay behind the long ones of their connection; TCP would take an overtaken packet for lost."""
    netlab("up", "ring:3", "--rate", "5mbit")
    # An end of record keeps the kernel from filling a short packet up with what follows.
    records = "s.sendall(bytes(16384), socket.MSG_EOR); s.sendall(bytes(40), socket.MSG_EOR)"
    mixed = SEND.replace("s.sendall(bytes(16384))", records)
    assert mixed.count("MSG_EOR") == 2
    measured = goodput("n0", "n1", "10.100.0.1", mixed)
    in_time(measured > 4e6, f"{measured:.3g} bit/s of 5e+06")
    counted = netlab("exec", "n0", "--", "nstat", "-asz", "TcpExtTCPSACKReorder", "TcpRetransSegs").stdout
    numbers = {line.split()[0]: int(line.split()[1]) for line in counted.splitlines() if line.startswith("Tcp")}
    # One probe of the tail of the connection may be sent again; after a time without processors all that was under way is.
    # The kernel itself lets packets pass each other where one is sent on a processor that is then taken away.
    in_time(numbers["TcpExtTCPSACKReorder"] == 0, numbers)
    in_time(numbers["TcpRetransSegs"] <= 1, numbers)
    netlab("down")


def delays():
    """20 ms on every link: a connection over two of them takes four times that, and links stay as fast as they are. By netem, or
    by a process between taps where the kernel has none; with neither netlab refuses."""
    has = {row["feature"]: row["present"] for row in json.loads(netlab("features", "--json").stdout)["features"]}
    if not has["netem"] and not has["tap"]:
        done = netlab("up", "ring:4", "--delay", "20ms", status=CANNOT)
        assert "neither netem nor tap" in done.stderr and not os.path.exists("/run/netlab"), done.stderr
        return
    about = json.loads(netlab("up", "ring:4", "--delay", "20ms", "--rate", "10mbit", "--json").stdout)
    assert about["delay_us"] == 20e3 and about["delay_by"] == ("netem" if has["netem"] else "wire"), about
    code = (
        "import socket, time; s = socket.socket(); begin = time.monotonic(); "
        "print(s.connect_ex(('10.100.0.2', 9)), time.monotonic() - begin)"
    )
    answers = [netlab("exec", "n0", "--", "python3", "-c", code).stdout.split() for _ in range(3)]
    assert all(answer == "111" and 0.08 <= float(seconds) for answer, seconds in answers), answers
    in_time(min(float(seconds) for _, seconds in answers) < 0.2, f"to connect over two links with 20 ms each way: {answers}")
    measured = goodput("n0", "n1", "10.100.0.1")
    in_time(0.85 < measured / (10e6 * 1460 / 1514) < 1.1, f"{measured:.3g} bit/s of 1e+07")
    netlab("cut", "n0", "n1")
    assert not reaches("n0", "10.100.0.1")
    netlab("cut", "n0", "n1", "--restore")
    assert reaches("n0", "10.100.0.1")
    netlab("kill", "n3")
    assert reaches("n0", "10.100.0.1") and not reaches("n0", "10.100.0.3")
    netlab("down")
    netlab("up", "switch:3", "--delay", "5ms")
    assert reaches("n0", lane_address(2, 0))
    netlab("down")


def cut_and_kill():
    netlab("up", "ring:4")
    assert reaches("n0", "10.100.0.1")
    netlab("cut", "n0", "n1")
    assert not reaches("n0", "10.100.0.1") and not reaches("n1", "10.100.0.0")
    assert reaches("n0", "10.100.0.3")
    netlab("cut", "1", "0", "--restore")
    assert reaches("n0", "10.100.0.1") and reaches("n1", "10.100.0.0")
    sleeping = start("exec", "n2", "--", "sleep", "78.5")
    wait_until(lambda: processes("sleep 78.5"), "a process on n2")
    netlab("kill", "n2")
    assert sleeping.wait(timeout=10) != 0
    wait_until(lambda: not [line for line in processes("sleep 78.5") if line.startswith("sleep")], "n2's processes ended")
    assert not reaches("n1", "10.100.0.2")
    assert "killed" in netlab("exec", "n2", "--", "true", status=1).stderr
    assert len(netlab("run", "--", "hostname").stdout.split()) == 3
    assert len(link_counters()) == 8
    netlab("down")
    # A switch's cable, where the switch is a bridge.
    netlab("up", "switch:3")
    netlab("cut", "n0", "s0")
    assert not reaches("n0", "10.100.0.1") and reaches("n2", "10.100.0.1")
    netlab("cut", "n0", "s0", "--restore")
    assert reaches("n0", "10.100.0.1")
    netlab("down")


def two_at_once():
    before = picture()
    netlab("up", "ring:3", "--name", "one")
    netlab("up", "switch:3", "--name", "two")
    listed = json.loads(netlab("list", "--json").stdout)["networks"]
    assert [(row["name"], row["topology"]) for row in listed] == [("one", "ring:3"), ("two", "switch:3")]
    netlab("down", "--name", "one")
    assert netlab("exec", "n2", "--name", "two", "--", "hostname").stdout == "n2\n"
    netlab("down", "--name", "two")
    assert_same(before, picture())


def box():
    """Without root: as nobody, who can read nothing of /run's."""
    command = f"{NETLAB} list; {NETLAB} run -- hostname"
    before = picture()
    need_a_nobody(NETLAB)
    done = netlab("box", "ring:3", "--", "sh", "-c", command, preexec_fn=as_nobody, cwd="/")
    assert sorted(done.stdout.split()) == ["n0", "n1", "n2", "netlab", "ring:3", "up"], done.stdout
    netlab("box", "ring:3", "--", "sh", "-c", "exit 4", status=4, preexec_fn=as_nobody, cwd="/")
    assert "netlab box" in netlab("up", "ring:3", status=CANNOT, preexec_fn=as_nobody, cwd="/").stderr
    boxed = start("box", "ring:3", "--", "sleep", "79.5", preexec_fn=as_nobody, cwd="/")
    wait_until(lambda: [line for line in processes("sleep 79.5") if line.startswith("sleep")], "the boxed command runs")
    boxed.kill()
    boxed.wait()
    wait_until(lambda: not processes("netlab:") and not processes("sleep 79.5"), "a killed box ends all that is in it")
    assert_same(before, picture())


def wrong_arguments():
    netlab("up", "ring:4")
    for arguments, part in (
        (("up", "nonsense:4", "--name", "x"), "nonsense"),
        (("up", "/nowhere.json", "--name", "x"), "/nowhere.json"),
        (("up", "ring:4", "--name", "x", "--rate", "fast"), "--rate fast"),
        (("up", "ring:4", "--name", "x", "--rate", "0mbit"), "--rate 0mbit"),
        (("up", "ring:4", "--name", "x", "--rate", "1bit"), "64kbit"),
        (("up", "ring:4", "--name", "x", "--queue", "7"), "--queue 7"),
        (("up", "ring:4", "--name", "x", "--shaper", "red"), "red"),
        (("up", "ring:4", "--name", "x/../y"), "x/../y"),
        (("up", "ring:4", "--name", "x", "--routes", "/nowhere.json"), "/nowhere.json"),
        (("up", "ring:4", "--name", "x", "--routes", "/etc/passwd"), "/etc/passwd"),
        (("up", "ring:4", "--name", "x", "--routes", "a", "--balance"), "--balance"),
        (("up", "ring:4"), "already up"),
        (("down", "--name", "x"), "no network called x"),
        (("run", "--name", "x", "--", "true"), "no network called x"),
        (("run",), "no command"),
        (("run", "--env", "X", "--", "true"), "NAME=VALUE"),
        (("exec", "n9", "--", "true"), "n9"),
        (("exec", "n1", "--", "/nowhere"), "/nowhere"),
        (("up", "ring:3", "--planes", "0"), "--planes 0: expected 1 to"),
        (("cut", "n0", "n2"), "not a link"),
        (("cut", "n0", "n9"), "n9"),
        (("kill", "s9"), "s9"),
        (("fly",), "fly"),
        ((), "COMMAND"),
    ):
        done = netlab(*arguments, status=2)
        lines = done.stderr.strip().split("\n")
        assert len(lines) == 1 and part in lines[0] and not done.stdout, f"{arguments}: {done.stderr}"
    routes = routes_of("sssp", "ring:5")
    assert "5 hosts" in netlab("up", "ring:4", "--name", "x", "--routes", routes, status=2).stderr
    assert [row["name"] for row in json.loads(netlab("list", "--json").stdout)["networks"]] == ["netlab"]
    netlab("down")
